# For `nix eval --apply`: every derivation below an output, as its path in the store.
let
  paths =
    value:
    if !builtins.isAttrs value then
      null
    else if value.type or null == "derivation" then
      value.drvPath
    else
      builtins.mapAttrs (_: paths) value;
in
paths
