#!/usr/bin/env bash
# Installs the reference implementations, at the versions that goldens and ratios were made with, into .cache/peers.
# Done once: a second call returns at once. PyTorch is installed without the CUDA libraries that it depends on but does
# not use here, except those without which it cannot be imported; if that is not enough, with all of them.
set -euo pipefail
cd "$(dirname "$0")/../.."
peers=.cache/peers
versions="$(sha256sum < "$0")"
mkdir -p .cache
exec 9> .cache/peers.lock
flock 9 # whoever comes second waits, and finds it done
if [[ -f $peers/complete && "$(cat "$peers/complete")" == "$versions" ]]; then
  exit 0
fi
echo "peers: installing PyTorch 2.15.0, transformers 5.24.0 and JAX 0.10.0 into $peers"
rm -rf "$peers"
python3 -m venv "$peers"
pip="$peers/bin/pip --quiet --disable-pip-version-check"
$pip install setuptools==80.9.0 numpy==2.4.6 transformers==5.24.0 safetensors==0.8.0 pyyaml==6.0.4 typing-extensions sympy networkx jinja2 filelock fsspec
$pip install jax==0.10.0 jaxlib==0.10.0
$pip install --no-deps torch==2.15.0 nvidia-nccl-cu13==2.30.7 nvidia-cusparselt-cu13==0.8.1 nvidia-nvshmem-cu13==3.7.2 nvidia-cufile
if ! "$peers/bin/python" -c "import torch" 2> /dev/null; then
  $pip install torch==2.15.0
fi
"$peers/bin/python" -c "import torch, transformers; print('peers: PyTorch', torch.__version__, 'transformers', transformers.__version__)"
echo "$versions" > "$peers/complete"
