"""Publishes an evaluation with the Weave SDK and has the server run it; prints one JSON line."""
import json
import pathlib
import sys
import time
import types

import weave
from weave.flow.llm_structured_model import LLMStructuredCompletionModel

# The package of all scorers wants libraries of other scorers; this one needs none of them.
scorers = types.ModuleType("weave.scorers")
scorers.__path__ = [str(pathlib.Path(weave.__file__).parent / "scorers")]
sys.modules["weave.scorers"] = scorers
from weave.scorers.llm_as_a_judge_scorer import LLMAsAJudgeScorer  # noqa: E402

project = sys.argv[1]
client = weave.init(project)
model = LLMStructuredCompletionModel(
    name="answerer",
    llm_model_id="mine/answerer",
    default_params={
        "messages_template": [{"role": "system", "content": "Speak {lang}."}],
        "temperature": 0.5,
        "response_format": "text",
    },
)
judge = LLMAsAJudgeScorer(
    name="good",
    model=LLMStructuredCompletionModel(
        name="judging",
        llm_model_id="mine/judging",
        default_params={"response_format": "json_object"},
    ),
    scoring_prompt="Is {output} right?",
)
data = weave.Dataset(
    name="questions",
    rows=[{"user_input": "a", "lang": "X"}, {"user_input": "b", "lang": "Y"}],
)
evaluation = weave.Evaluation(name="by the server", dataset=data, scorers=[judge], trials=1)
refs = {
    "evaluation_ref": weave.publish(evaluation).uri,
    "model_ref": weave.publish(model).uri,
}
client.flush()
place = {"project_id": project}
call_id = client.server.evaluate_model({**place, **refs}).call_id
status = None
for _ in range(600):
    status = client.server.evaluation_status({**place, "call_id": call_id}).status
    if status.code in ("complete", "failed"):
        break
    time.sleep(0.05)
call = client.get_call(call_id)
print(
    json.dumps(
        {
            "status": json.loads(status.model_dump_json()),
            "op": call.op_name.rsplit("/", 1)[1].split(":")[0],
            "children": len(list(call.children())),
            "exception": call.exception,
        }
    )
)
