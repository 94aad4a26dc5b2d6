# The run folder that a scenario's derivations give is, byte for byte, the one that `bench run` leaves. Provenance is not
# compared: host and times are its purpose.
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
  diff --recursive --exclude provenance.json project/runs/${scenario}/latest/ ${assembled}/
  touch $out
''
