"""Judges YAML files by a JSON Schema with a validator that mtsim has no part in.

usage: validate.py SCHEMA FILE...
Prints a JSON object: for each file the list of complaints, each "PATH: message"; none for a file that is right.
"""
import json
import sys

import jsonschema
import yaml


def as_json(value):
    """Keys of a JSON object are texts; YAML's may be numbers."""
    if isinstance(value, dict):
        return {str(key): as_json(member) for key, member in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value


def complaints(validator, path):
    with open(path, encoding="utf-8") as file:
        document = as_json(yaml.safe_load(file))
    return sorted("{}: {}".format(".".join(map(str, error.absolute_path)), error.message) for error in validator.iter_errors(document))


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    json.dump({path: complaints(validator, path) for path in paths}, sys.stdout)


main(*sys.argv[1:])
