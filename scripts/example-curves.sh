#!/usr/bin/env bash
# Trains the examples as their pages say, and draws the loss curves of docs/examples.md into docs/images:
#   scripts/example-curves.sh [quickstart | program | qwen3]... [--steps N] [--corpus FILE] [--output FOLDER]
# Runs lie in .cache/examples/runs, or in FOLDER/runs, and go on where they stopped. Programs are those of build/release/bin.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() { printf 'example-curves: %s (see the head of scripts/example-curves.sh)\n' "$*" >&2; exit 2; }

steps= corpus=.cache/quickstart/corpus.txt output= examples=()
while (($#)); do
  case $1 in
  quickstart | program | qwen3) examples+=("$1") ;;
  --steps | --corpus | --output)
    (($# > 1)) || usage "$1 needs a value"
    declare "${1#--}=$2"
    shift
    ;;
  *) usage "no option or example $1" ;;
  esac
  shift
done
((${#examples[@]})) || examples=(quickstart program qwen3)
[[ -f $corpus ]] || usage "no corpus $corpus: scripts/setup.sh makes it"
export PATH=${WEFT_BUILD:-$PWD/build/release}/bin:$PATH
images=${output:-docs/images} work=${output:-.cache/examples}
corpus=$(realpath "$corpus") images=$(realpath -m "$images") work=$(realpath -m "$work")
mkdir -p "$images" "$work/runs"

# train NAME FILE [--set KEY=VALUE]...
train() {
  local name=$1 file=$2 shorter=()
  shift 2
  [[ -z $steps ]] || shorter=(--set train.steps="$steps" --set lr_schedule.warmup_steps=$((steps / 10)))
  weft train "$file" --name "$name" --runs "$work/runs" --set "data.train=[{path: '$corpus'}]" "${shorter[@]}" "$@"
}
# draw NAME RUN...
draw() { weft plot -o "$images/loss_$1.svg" "${@:2}"; }

quickstart() {
  train quickstart examples/quickstart/run.yaml
  draw quickstart "$work/runs/quickstart"
}
program() {
  train bigram examples/program/run.yaml
  draw program "$work/runs/bigram"
}
# A tokenizer, a model; then the exported model goes on elsewhere: tensor parallel on a pipeline.
qwen3() {
  local tokenizer=$work/tokenizer.json
  [[ -f $tokenizer ]] || weft data train-tokenizer "$corpus" -o "$tokenizer" --vocab-size 4096 --pattern qwen2
  train qwen3 examples/qwen3/run.yaml --set tokenizer.file="$tokenizer"
  [[ -d $work/exported ]] || weft ckpt export "$work/runs/qwen3" -o "$work/exported"
  train continued examples/qwen3/continue.yaml --set tokenizer.file="$tokenizer" \
    --set model.from="$work/exported/config.json" --set checkpoint.initial_load_path="$work/exported"
  draw qwen3 "$work/runs/qwen3" "$work/runs/continued"
}

for example in "${examples[@]}"; do
  "$example"
done
