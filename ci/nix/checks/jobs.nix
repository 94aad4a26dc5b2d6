# The run folder that a scenario's derivations give is, byte for byte, the one that `bench run` leaves. Provenance is not
# compared: host and times are its purpose. Nor is what was measured live: derivations plan replays and send nothing.
{
  runCommand,
  bench,
  data,
  scenario,
  assembled,
}:
runCommand "${bench.pname}-jobs-${scenario}" { nativeBuildInputs = [ bench ]; } ''
  cp -r ${data} project
  chmod -R u+w project
  bench run project/scenarios/${scenario}.kdl
  sed -i '/^Measured on one machine/,/^The same again/{/^The same again/!d}' project/runs/${scenario}/latest/summary.md
  cp -r ${assembled} planned
  chmod -R u+w planned
  # That replays are planned and not sent.
  sed -i '/^\*\*.*planned and not sent/{N;d}' planned/summary.md
  # What is told of a live run beside its result, where the machine was busy.
  sed -i 's|><system-out>[^<]*</system-out></testcase>|/>|' project/runs/${scenario}/latest/junit.xml planned/junit.xml
  diff --recursive --exclude provenance.json --exclude live.json --exclude live.jsonl \
    project/runs/${scenario}/latest/ planned/
  touch $out
''
