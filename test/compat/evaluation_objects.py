"""Makes, lists, reads and deletes evaluation objects with the published Weave SDK's client, beside objects that the SDK publishes itself; prints one JSON line."""
import json
import sys

import weave

project = sys.argv[1]
client = weave.init(project)
server = client.server
place = {"project_id": project}
shown = {}


@weave.op
def exact(output: str) -> bool:
    return output == "x"


class Greeter(weave.Model):
    greeting: str = "hello"

    @weave.op
    def predict(self, name: str) -> str:
        return f"{self.greeting} {name}"


class Length(weave.Scorer):
    least: int = 1

    @weave.op
    def score(self, output: str) -> bool:
        return len(output) >= self.least


data = weave.Dataset(name="published set", rows=[{"name": "a"}, {"name": "b"}])
published = weave.Evaluation(name="published evaluation", dataset=data, scorers=[Length()], trials=2)
weave.publish(data)
weave.publish(Greeter())
weave.publish(published)
client.flush()

op = server.op_create({**place, "name": "My Op", "source_code": "def f(): ..."})
rows = server.dataset_create({**place, "name": "My Set", "description": "d", "rows": [{"q": 1.0}, {"q": None}]})
scorer = server.scorer_create({**place, "name": "My Scorer", "op_source_code": "def score(): ..."})
dataset_ref = f"weave:///{project}/object/{rows.object_id}:{rows.digest}"
evaluation = server.evaluation_create(
    {
        **place,
        "name": "My Evaluation",
        "dataset": dataset_ref,
        "scorers": [scorer.scorer],
        "trials": 3,
        "evaluation_name": "run",
        "eval_attributes": {"free": 1},
    }
)
model = server.model_create({**place, "name": "My Model", "source_code": "class M: ...", "attributes": {"t": 0.5}})
shown["created"] = [[one.object_id, one.version_index] for one in [op, rows, scorer, evaluation, model]]
shown["refs"] = [
    scorer.scorer == f"weave:///{project}/object/my_scorer:{scorer.digest}",
    evaluation.evaluation_ref == f"weave:///{project}/object/my_evaluation:{evaluation.digest}",
    model.model_ref == f"weave:///{project}/object/my_model:{model.digest}",
]

shown["op"] = server.op_read({**place, "object_id": op.object_id, "digest": op.digest}).code
read = server.dataset_read({**place, "object_id": "my_set", "digest": "latest"})
shown["dataset"] = [read.name, read.description, read.digest == rows.digest]
shown["rows"] = [dict(row) for row in weave.ref(dataset_ref).get().rows]
shown["scorer"] = server.scorer_read({**place, "object_id": "my_scorer", "digest": "v0"}).score_op.split(":")[1]
read = server.evaluation_read({**place, "object_id": "my_evaluation", "digest": "latest"})
shown["evaluation"] = [read.name, read.dataset == dataset_ref, read.scorers == [scorer.scorer], read.trials]
shown["evaluation_ops"] = [read.evaluate_op, read.predict_and_score_op, read.summarize_op]
shown["evaluation_ops"] = [ref.split("/op/")[1].split(":")[0] for ref in shown["evaluation_ops"]]
read = server.model_read({**place, "object_id": "my_model", "digest": model.digest})
shown["model"] = [read.name, read.source_code, read.attributes]

shown["datasets"] = [one.name for one in server.dataset_list(dict(place))]
shown["scorers"] = [[one.object_id, one.score_op.split("/op/")[1].split(":")[0]] for one in server.scorer_list(dict(place))]
listed = list(server.evaluation_list(dict(place)))
shown["evaluations"] = [[one.name, one.trials, len(one.scorers)] for one in listed]
shown["models"] = [[one.object_id, one.source_code, sorted(one.attributes)] for one in server.model_list(dict(place))]
codes = {one.object_id: one.code for one in server.op_list(dict(place))}
shown["ops"] = sorted(codes)
shown["published_op"] = "def predict" in codes["Greeter.predict"]
shown["page"] = [one.name for one in server.dataset_list({**place, "limit": 1, "offset": 1})]

again = server.dataset_create({**place, "name": "My Set", "rows": []})
shown["again"] = again.version_index
shown["deleted"] = [
    server.dataset_delete({**place, "object_id": "my_set", "digests": [rows.digest, again.digest]}).num_deleted,
    server.model_delete({**place, "object_id": "my_model"}).num_deleted,
    server.scorer_delete({**place, "object_id": "my_scorer", "digests": ["latest"]}).num_deleted,
    server.evaluation_delete({**place, "object_id": "my_evaluation"}).num_deleted,
    server.op_delete({**place, "object_id": "my_op"}).num_deleted,
]
try:
    server.dataset_read({**place, "object_id": "my_set", "digest": "latest"})
except Exception as error:
    shown["missing"] = [type(error).__name__, "deleted" in str(error)]
print(json.dumps(shown))
