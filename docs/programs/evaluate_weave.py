# pip install weave==0.54.0
import asyncio

import weave

weave.init("acme/demo")

dataset = weave.Dataset(
    name="cities",
    rows=[
        {"question": "How warm is it in Oslo?", "expected": "7"},
        {"question": "How warm is it in Lisbon?", "expected": "19"},
    ],
)


class Weather(weave.Model):
    style: str

    @weave.op
    def predict(self, question: str) -> str:
        # put the call of your model here
        return "7" if self.style == "short" else f"You asked: {question} It is 19 degrees."


@weave.op
def contains_expected(expected: str, output: str) -> dict:
    return {"correct": expected in output}


@weave.op
def brevity(output: str) -> float:
    return 1 / len(output.split())


evaluation = weave.Evaluation(name="weather", dataset=dataset, scorers=[contains_expected, brevity])
for style in ("short", "long"):
    print(style, asyncio.run(evaluation.evaluate(Weather(name=f"weather-{style}", style=style))))
