# What the program runs on: scenarios with their goldens, pins, and the plans that derivations are made from.
{
  lib,
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
  plans = lib.fileset.toSource {
    root = ../jobs;
    fileset = ../jobs;
  };
  # The digest and path of every file that a batch of some plan reads.
  named =
    file: lib.concatMap (batch: batch.inputs) (lib.importJSON (../jobs + "/${file}")).batches;
  digests = lib.concatMapStrings ({ path, sha256 }: "${sha256}  ${path}\n") (
    lib.unique (
      lib.concatMap named (
        lib.filter (lib.hasSuffix ".json") (lib.attrNames (builtins.readDir ../jobs))
      )
    )
  );
in
{
  # The goldens are those that were accepted.
  scenarios = check "scenarios" ''
    bench fmt --check scenarios/*.kdl
    bench lint scenarios/*.kdl
    bench check scenarios/*.kdl
  '';

  # Every file has the bytes that its pin and the plans were made for. The files themselves are read: evaluation does not
  # read again what is in the store under the digest that a plan states.
  pins = check "pins" ''
    bench pins verify
    sha256sum --check --strict --quiet - <<'END'
    ${digests}END
  '';

  # The plans are those of the scenarios, and every scenario has one.
  plans = check "plans" ''
    for scenario in scenarios/*.kdl; do
      name=$(basename "$scenario" .kdl)
      bench plan "$scenario" --format nix-json | cmp - ${plans}/"$name".json || {
        echo "ci/nix/jobs/$name.json is not the plan of $scenario; \`ci/nix/plans\` writes it" >&2
        exit 1
      }
    done
  '';
}
