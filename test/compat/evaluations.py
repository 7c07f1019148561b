"""Runs an evaluation with the published Weave SDK, and makes one by its evaluation methods; prints one JSON line."""
import asyncio
import json
import sys

import weave

project = sys.argv[1]
client = weave.init(project)
server = client.server
of = {"project_id": client.project_id if "/" in getattr(client, "project_id", "") else f"{client.entity}/{client.project}"}


class Adder(weave.Model):
    by: int

    @weave.op
    def predict(self, a: int) -> int:
        return a + self.by


@weave.op
def right(expected: int, output: int) -> bool:
    return expected == output


rows = [{"a": 1, "expected": 3}, {"a": 2, "expected": 4}, {"a": 3, "expected": 0}]
evaluation = weave.Evaluation(name="sums", dataset=rows, scorers=[right])
model = Adder(by=2)
_, call = asyncio.run(evaluation.evaluate.call(evaluation, model))
client.flush()


def plain(record):
    return record.model_dump(mode="json")


recorded = plain(server.evaluation_run_read({**of, "evaluation_run_id": call.id}))
predict = next(c for c in client.get_calls() if c.func_name == "Adder.predict")
shown = {
    "recorded": recorded,
    "id": call.id,
    "refs": [evaluation.ref.uri, model.ref.uri],
    "output": dict(client.get_call(call.id).output),
    "predicted": plain(server.prediction_read({**of, "prediction_id": predict.id})),
}

# The same evaluation, made call by call.
scorer = weave.publish(weave.Scorer(), "judge").uri
run = server.evaluation_run_create({**of, "evaluation": evaluation.ref.uri, "model": model.ref.uri}).evaluation_run_id
for row in rows:
    output = row["a"] + 2
    prediction = server.prediction_create(
        {**of, "model": model.ref.uri, "inputs": row, "output": output, "evaluation_run_id": run}
    ).prediction_id
    server.score_create(
        {
            **of,
            "prediction_id": prediction,
            "scorer": scorer,
            "value": output == row["expected"],
            "evaluation_run_id": run,
        }
    )
    server.prediction_finish({**of, "prediction_id": prediction})
server.evaluation_run_finish({**of, "evaluation_run_id": run, "summary": {"by": "hand"}})
runs = [
    plain(one) for one in server.evaluation_run_list({**of, "filter": {"evaluations": [evaluation.ref.uri], "models": [model.ref.uri]}})
]
predictions = [plain(one) for one in server.prediction_list({**of, "evaluation_run_id": run})]
scores = [plain(one) for one in server.score_list({**of, "evaluation_run_id": run, "limit": 2})]
shown |= {
    "run": run,
    "runs": runs,
    "predictions": predictions,
    "scores": scores,
    "score": plain(server.score_read({**of, "score_id": scores[0]["score_id"]})),
    "made": dict(client.get_call(run).output),
    "tree": sorted(c.func_name for c in client.get_calls(filter={"trace_ids": [run]})),
    "feedback": [
        [f.feedback_type, f.payload["output"]] for f in client.get_call(predictions[0]["prediction_id"]).feedback
    ],
    "deleted": [
        plain(server.score_delete({**of, "score_ids": [scores[0]["score_id"]]})),
        plain(server.prediction_delete({**of, "prediction_ids": [p["prediction_id"] for p in predictions]})),
        plain(server.evaluation_run_delete({**of, "evaluation_run_ids": [run]})),
    ],
    "left": len(list(server.evaluation_run_list({**of}))),
}
print(json.dumps(shown))
