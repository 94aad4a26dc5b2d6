#!/usr/bin/env python3
"""Stands in for a cluster: runs the very command of a Job's manifest, with its environment, in a folder in place of its volume.

Usage: stand_in.py MANIFEST PROJECT [INDEX]

INDEX is what Kubernetes sets JOB_COMPLETION_INDEX to in an Indexed Job. The one container's command and arguments run as they are;
paths below its volume, in the working directory and in the values of variables, lead below PROJECT. Exits as the command does.
"""

import os
import subprocess
import sys

import yaml


def main(manifest, project, index=None):
    with open(manifest, encoding="utf-8") as file:
        job = yaml.safe_load(file)
    if (job["apiVersion"], job["kind"]) != ("batch/v1", "Job"):
        sys.exit(f"{manifest} is no Job")
    spec = job["spec"]
    pod = spec["template"]["spec"]
    [container] = pod["containers"]
    [mount] = container["volumeMounts"]
    if [volume["name"] for volume in pod["volumes"]] != [mount["name"]]:
        sys.exit(f"{manifest}: the volume is not the one that is mounted")
    volume = mount["mountPath"]

    def here(text):
        """Returns a path below the volume as one below the project; any other text as it is."""
        is_below = text == volume or text.startswith(volume + "/")
        return project + text[len(volume):] if is_below else text

    variables = {variable["name"]: here(variable["value"]) for variable in container["env"]}
    if (spec.get("completionMode") == "Indexed") != (index is not None):
        sys.exit(f"{manifest}: an index is given where, and only where, the Job is Indexed")
    if index is not None:
        completions = spec["completions"]
        if variables["PARTITIONS"] != str(completions) or not 0 <= int(index) < completions:
            sys.exit(f"{manifest}: {completions} completions, PARTITIONS={variables['PARTITIONS']}, index {index}")
        variables["JOB_COMPLETION_INDEX"] = index
    # As in a container: nothing of this process's environment but where programs are.
    environment = {"PATH": os.environ["PATH"], **variables}
    command = container["command"] + container["args"]
    return subprocess.run(command, cwd=here(container["workingDir"]), env=environment, check=False).returncode


sys.exit(main(*sys.argv[1:]))
