# What the program runs on: scenarios with their goldens, and pins.
{
  runCommand,
  bench,
  sources,
}:
let
  check =
    name: script:
    runCommand "${bench.pname}-${name}" { nativeBuildInputs = [ bench ]; } ''
      cd ${sources.data}
      ${script}
      touch $out
    '';
in
{
  # The goldens are those that were accepted.
  scenarios = check "scenarios" ''
    bench fmt --check scenarios/*.kdl
    bench lint scenarios/*.kdl
    bench check scenarios/*.kdl
  '';

  # Every file has the bytes that its pin was made for.
  pins = check "pins" "bench pins verify";
}
