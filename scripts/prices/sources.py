"""Prints the prices that two packages list as one JSON text: `sources.py <folder of the unpacked LiteLLM wheel>`.

Needs genai-prices to be installed; of LiteLLM only the file of prices is read.
"""

import datetime
import decimal
import json
import pathlib
import sys

from genai_prices.data import providers


def plain(value):
    """Objects of genai-prices by the name of their class; exact decimals become the nearest double, as everywhere."""
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if hasattr(value, "__dict__"):
        return {
            "kind": type(value).__name__,
            **{key: one for key, one in vars(value).items() if one is not None and not key.startswith("_")},
        }
    return str(value)


listed = pathlib.Path(sys.argv[1]) / "litellm" / "model_prices_and_context_window_backup.json"
json.dump({"genai": providers, "litellm": json.loads(listed.read_text())}, sys.stdout, default=plain)
