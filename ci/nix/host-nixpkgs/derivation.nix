# Derivations with the habits of nixpkgs: `meta` and `passthru` stay outside, inputs are on PATH, bash builds.
{
  lib,
  host,
  system,
}:
rec {
  mkDerivation =
    arguments:
    let
      name = arguments.name or "${arguments.pname}-${arguments.version}";
      inputs =
        (arguments.nativeBuildInputs or [ ])
        ++ (arguments.buildInputs or [ ])
        ++ (arguments.packages or [ ]);
      attributes =
        removeAttrs arguments [
          "env"
          "inputsFrom"
          "meta"
          "passthru"
          "script"
        ]
        // (arguments.env or { })
        // {
          inherit name system;
          builder = host.bash;
          outputs = [ "out" ]; # `nix develop` reads the variable
          PATH = lib.concatMapStrings (input: "${input}/bin:") inputs + host.path;
          SOURCE_DATE_EPOCH = 315532800;
          LC_ALL = "C.UTF-8";
          TZ = "UTC";
          args = [
            "-euo"
            "pipefail"
            "-c"
            # Ends with a word of bash's own: a program run in place of the shell closes the log before it ends, and Nix
            # kills what has closed its log ("failed due to signal 9", now and then, on a busy machine).
            (arguments.script or "touch $out" + "\nexit 0\n")
          ];
        };
    in
    derivation attributes
    // {
      meta = arguments.meta or { };
      nativeBuildInputs = arguments.nativeBuildInputs or [ ];
      overrideAttrs = change: mkDerivation (arguments // change arguments);
    }
    // lib.optionalAttrs (arguments ? pname) { inherit (arguments) pname version; }
    // (arguments.passthru or { });

  runCommand =
    name: arguments: script:
    mkDerivation (arguments // { inherit name script; });

  # A package that leads to programs of the machine.
  programs =
    name: names:
    mkDerivation {
      inherit name;
      script = ''
        mkdir -p $out/bin
        for program in ${lib.concatStringsSep " " names}; do
          if found=$(command -v "$program"); then ln -s "$found" $out/bin/; fi
        done
      '';
      meta.mainProgram = lib.head names;
    };
}
