"""Judges YAML files by a JSON Schema with a validator that mtsim has no part in.

usage: validate.py SCHEMA FILE...
Prints a JSON object: for each file the list of complaints, each "PATH: message"; none for a file that is right.
"""
import json
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """As YAML 1.2 and editors read plain words: `off` is a text, only true and false are not."""


BOOL = "tag:yaml.org,2002:bool"
Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != BOOL] for letter, resolvers in Loader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver(BOOL, re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def as_json(value):
    """Keys of a JSON object are texts; YAML's may be numbers."""
    if isinstance(value, dict):
        return {str(key): as_json(member) for key, member in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value


def complaints(validator, path):
    with open(path, encoding="utf-8") as file:
        document = as_json(yaml.load(file, Loader))
    return sorted("{}: {}".format(".".join(map(str, error.absolute_path)), error.message) for error in validator.iter_errors(document))


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    json.dump({path: complaints(validator, path) for path in paths}, sys.stdout)


main(*sys.argv[1:])
