# `nix develop`: what compiles the program, and what ci/run.sh calls. The tools find their settings as they do there.
{
  mkShell,
  bench,
  cargo-nextest,
  clippy,
  rustfmt,
}:
mkShell {
  inputsFrom = [ bench ];
  packages = [
    cargo-nextest
    clippy
    rustfmt
  ];
  shellHook = ''
    export CLIPPY_CONF_DIR="$PWD/ci"
  '';
}
