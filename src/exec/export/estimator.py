# The other side of `bench pins timing export`: answers passes from AISimulate's estimator, one JSON value a line.
# Protocol: docs/guide.md, "Timing tables".
import importlib.metadata
import json
import logging
import sys

PROTOCOL = "touchstone.timing-export/1"


def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def fail(message):
    say({"error": message})
    sys.exit(1)


def estimator(subject):
    from aisimulate_core.sdk import RustForwardPassPerfModel

    config = {
        "system": subject["hardware"],
        "backend": subject["backend"],
        "backend_version": subject["backend_version"],
        "worker_type": "aggregated",
        "tp": subject["tensor"],
        "pp": subject["pipeline"],
        "attention_dp": subject["attention_data"],
    }
    if subject["moe_tensor"] * subject["moe_expert"] > 1:
        config["moe_tp_size"] = subject["moe_tensor"]
        config["moe_ep_size"] = subject["moe_expert"]
    reasons = []
    for name in subject["models"]:
        try:
            model = RustForwardPassPerfModel.best_available({"model": name, **config})
        except Exception as error:  # noqa: BLE001 - whatever it is, the next name may do
            reasons.append(f"{name}: {error}")
            continue
        found = model.diagnostics()
        if found.get("readiness") == "ready":
            return model, name, found["provenance"]["config"]
        reasons.append(f"{name}: {found.get('last_warning')}")
    fail("no estimate of the deployment: " + "; ".join(reasons))


def quantization(subject, name):
    from aisimulate_core.sdk.config_builders import build_model_config
    from aisimulate_core.sdk.models import get_model

    config = build_model_config(
        tp_size=subject["tensor"],
        pp_size=subject["pipeline"],
        attention_dp_size=subject["attention_data"],
        moe_tp_size=subject["moe_tensor"],
        moe_ep_size=subject["moe_expert"],
    )
    config = get_model(name, config, subject["backend"]).config
    return {
        "weights": config.gemm_quant_mode.name,
        "experts": config.moe_quant_mode.name,
        "activations": config.fmha_quant_mode.name,
        "kv": config.kvcache_quant_mode.name,
    }


def parts(operations):
    total = attention = head = 0.0
    for operation in operations:
        spent, name = operation["latency_ms"], operation["name"]
        total += spent
        if name.endswith("attention") or name.endswith("mla_block"):
            attention += spent
        elif "logits" in name:
            head += spent
    return [total, attention, head]


def main():
    logging.disable(logging.CRITICAL)
    subject = json.loads(sys.stdin.readline())
    if subject.get("protocol") != PROTOCOL:
        fail(f"this side speaks {PROTOCOL}, found {subject.get('protocol')}")
    try:
        version = importlib.metadata.version("aisimulate")
        model, name, config = estimator(subject)
        formats = quantization(subject, name)
    except ImportError as error:
        fail(f"the Python package aisimulate is not installed: {error}")
    except importlib.metadata.PackageNotFoundError:
        fail("the Python package aisimulate is not installed")
    probe = model.static_phase_diagnostics(batch_size=1, context_length=64, prefill=False)
    averages = any(operation["name"].endswith("generation_attention") for operation in probe)
    say(
        {
            "protocol": PROTOCOL,
            "package": "aisimulate",
            "package_version": version,
            "model": name,
            "backend_version": config["backend_version"],
            "quantization": formats,
            "decode_average": "five-samples" if averages else None,
        }
    )
    for line in sys.stdin:
        asked = json.loads(line)
        answers = []
        for count, length, prefix in asked["prefill"]:
            answers.append(
                parts(
                    model.static_phase_diagnostics(
                        batch_size=count, context_length=length, prefill=True, prefix=prefix
                    )
                )
            )
        for count, length in asked["decode"]:
            answers.append(
                parts(
                    model.static_phase_diagnostics(
                        batch_size=count, context_length=length - 1, prefill=False
                    )
                )
            )
        say({"passes": answers})


main()
