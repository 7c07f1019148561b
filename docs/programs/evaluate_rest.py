# No packages needed.
import json
import os
import sys
import urllib.request

url = os.environ.get("URL_OF_CALLHOUSE", "http://127.0.0.1:6400")
key = os.environ["KEY"]
entity, project = "acme", "demo"


def post(path, body):
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    request = urllib.request.Request(f"{url}/v2/{entity}/{project}/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


rows = [
    {"question": "How warm is it in Oslo?", "expected": "7"},
    {"question": "How warm is it in Lisbon?", "expected": "19"},
]
dataset = post("datasets", {"name": "cities", "rows": rows})
dataset_ref = f"weave:///{entity}/{project}/object/{dataset['object_id']}:{dataset['digest']}"
scorer = post("scorers", {"name": "contains_expected", "op_source_code": "# runs in your program"})["scorer"]
evaluation = post("evaluations", {"name": "weather", "dataset": dataset_ref, "scorers": [scorer]})["evaluation_ref"]
output = sys.argv[1] if len(sys.argv) > 1 else "It is 7 degrees."  # put the call of your model into the loop below
model = post("models", {"name": "weather-rest", "source_code": f"# answers {output}"})["model_ref"]

run = post("evaluation_runs", {"evaluation": evaluation, "model": model})["evaluation_run_id"]
for row in rows:
    prediction = post(
        "predictions",
        {"evaluation_run_id": run, "model": model, "inputs": {"question": row["question"]}, "output": output},
    )["prediction_id"]
    value = 1.0 if row["expected"] in output else 0.0
    post("scores", {"evaluation_run_id": run, "prediction_id": prediction, "scorer": scorer, "value": value})
    post(f"predictions/{prediction}/finish", {})
post(f"evaluation_runs/{run}/finish", {})
print(run)
