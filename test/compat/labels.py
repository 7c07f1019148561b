"""Sets tags and aliases with the published Weave SDK and prints what it reads back, as one JSON line."""
import json
import sys

import weave

project = sys.argv[1]
client = weave.init(project)
first = weave.publish({"n": 1}, name="labelled")
second = weave.publish({"n": 2}, name="labelled")
weave.add_tags(first, ["reviewed", "good one"])
weave.add_tags(second, ["reviewed"])
weave.set_aliases(first, ["production", "old"])
report = {"before": [weave.get_tags(first), weave.get_aliases(first), weave.get_aliases(second)]}
report["by_alias"] = dict(weave.ref(f"weave:///{project}/object/labelled:production").get())
weave.set_aliases(second, "production")
weave.remove_aliases(first, "old")
weave.remove_tags(first, ["good one"])
report["after"] = [weave.get_tags_and_aliases(first), weave.get_tags_and_aliases(second)]
report["listed"] = [weave.list_tags(), weave.list_aliases()]
print(json.dumps(report))
