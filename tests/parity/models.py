"""Models of Hugging Face transformers in float64, built from the `model` section of a run file, and their features turned off.

A section holds the keys of the family's config.json, so transformers takes it as it is. transformers computes norms, softmax,
rotary tables and embedding scales in float32 whatever the model's type; `lifted()` turns every float32 that its model code names
into float64, so that a float64 model is float64 throughout.
"""

import contextlib
import copy
import sys
import types
from unittest import mock

import torch
import transformers.modeling_rope_utils
from transformers import AutoConfig, AutoModelForCausalLM

IGNORED = -100
LARGE_WINDOW = 1 << 20


class DoublePrecisionTorch(types.ModuleType):
    """The torch module, in which float32 is another name of float64."""

    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@contextlib.contextmanager
def lifted(family):
    """While it lasts, transformers' code of a family knows no float32."""
    double = DoublePrecisionTorch("torch")
    modules = [sys.modules[type(emptyModel({"family": family})).__module__], transformers.modeling_rope_utils]
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(mock.patch.object(module, "torch", double))
        stack.enter_context(mock.patch.object(torch.Tensor, "float", torch.Tensor.double))
        yield


def configOf(section):
    keys = dict(copy.deepcopy(section), use_cache=False, bos_token_id=None, eos_token_id=None, pad_token_id=None)
    config = AutoConfig.for_model(keys.pop("family"), **keys)
    config._attn_implementation = "eager"
    return config


def emptyModel(section):
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(configOf(section))


def shapesOf(section):
    return {name: list(parameter.shape) for name, parameter in emptyModel(section).named_parameters()}


def build(section, weights):
    """A float64 model with these weights. Every parameter must be given, and nothing else."""
    model = AutoModelForCausalLM.from_config(configOf(section)).to(torch.float64).eval()
    with torch.no_grad():
        parameters = dict(model.named_parameters())
        if set(parameters) != set(weights):
            raise ValueError(f"parameters differ: {sorted(set(parameters) ^ set(weights))}")
        for name, parameter in parameters.items():
            parameter.copy_(torch.as_tensor(weights[name]).to(torch.float64))
    for module in model.modules():
        if hasattr(module, "scalar_embed_scale"):
            module.embed_scale = torch.tensor(module.scalar_embed_scale, dtype=torch.float64)
    return model


def lossSum(model, tokens, targets):
    """The sum over targets that count of the cross-entropy."""
    logits = model(input_ids=tokens).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten().long(), ignore_index=IGNORED, reduction="sum")


class Variant:
    """A model that is to be changed: its section and weights before it is built, its modules after."""

    def __init__(self, section, weights):
        self.section, self.weights, self.surgery = copy.deepcopy(section), dict(weights), []

    def set(self, **keys):
        self.section.update(keys)

    def zero(self, ending):
        found = [name for name in self.weights if name.endswith(ending)]
        if not found:
            raise ValueError(f"no parameter ends in {ending}")
        for name in found:
            self.weights[name] = self.weights[name] * 0

    def remove(self, ending):
        """Makes an identity of each module whose path ends so."""
        def operate(model):
            found = [path for path, _ in model.named_modules() if path.endswith("." + ending)]
            if not found:
                raise ValueError(f"no module ends in {ending}")
            for path in found:
                parent, _, name = path.rpartition(".")
                setattr(model.get_submodule(parent), name, torch.nn.Identity())
        self.surgery.append(operate)

    def build(self):
        model = build(self.section, self.weights)
        for operate in self.surgery:
            operate(model)
        return model


def withoutTie(variant):
    name = next(name for name in variant.weights if name.endswith(("embed_tokens.weight", "wte.weight")))
    variant.weights["lm_head.weight"] = variant.weights[name][::-1].copy()
    variant.set(tie_word_embeddings=False)


def withoutGroups(variant):
    """As many key heads as query heads, but query head h reads group h mod groups instead of its own."""
    heads, groups = variant.section["num_attention_heads"], variant.section["num_key_value_heads"]
    for name, value in variant.weights.items():
        if any(part in name for part in (".k_proj.", ".v_proj.", ".k_norm.")) and not (".k_norm." in name and variant.section["family"] != "olmo2"):
            variant.weights[name] = numpyTile(value, heads // groups)
    variant.set(num_key_value_heads=heads)


def numpyTile(value, repeats):
    return torch.as_tensor(value).tile((repeats,) + (1,) * (value.ndim - 1)).numpy()


def withoutAlternation(variant):
    """Full layers slide, and sliding ones see everything."""
    types = configOf(variant.section).layer_types
    variant.set(layer_types=["full_attention" if one == "sliding_attention" else "sliding_attention" for one in types])


def withoutZeroCenter(variant):
    for name, value in variant.weights.items():
        if name.endswith("norm.weight"):
            variant.weights[name] = value - 1


def withoutEmbeddingScale(variant):
    def operate(model):
        model.get_input_embeddings().embed_scale = torch.tensor(1.0, dtype=torch.float64)
    variant.surgery.append(operate)


def bias(*modules):
    return {f"bias_of_{module}": lambda variant, module=module: variant.zero(f".{module}.bias") for module in modules}


def norms(*modules):
    return {module: lambda variant, module=module: variant.remove(module) for module in modules}


def keys(**values):
    return {name: lambda variant, name=name, value=value: variant.set(**{name: value}) for name, value in values.items()}


ROPE = {"rope_scaling": lambda variant: variant.set(rope_scaling=None)}
TIE, GROUPS = {"tie_word_embeddings": withoutTie}, {"num_key_value_heads": withoutGroups}
WINDOW = keys(sliding_window=LARGE_WINDOW)
QKV = ("q_proj", "k_proj", "v_proj")
ATTENTION = bias(*QKV, "o_proj")

ROPE_PARAMETERS = {"rope_parameters": lambda variant: variant.set(rope_parameters={"rope_type": "default", "rope_theta": 100.0})}
BRANCH_NORMS = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
GEMMA = {**GROUPS, **TIE, **ATTENTION, **WINDOW, **ROPE, **norms(*BRANCH_NORMS), "layer_types": withoutAlternation, "zero_center": withoutZeroCenter,
         "embedding_scale": withoutEmbeddingScale,
         **keys(final_logit_softcapping=None, hidden_activation="relu")}

# For each run file of configs/, how each of its features is turned off.
FEATURES = {
    "base": {},
    "biases": {**ATTENTION, **bias("gate_proj", "up_proj", "down_proj")},
    "query_groups": GROUPS,
    "rope_linear": ROPE,
    "rope_llama3": ROPE,
    "rope_yarn": ROPE,
    "tied_embeddings": TIE,
    "llama": {**GROUPS, **TIE, **ROPE, **ATTENTION, **bias("gate_proj", "up_proj", "down_proj"), **keys(hidden_act="relu")},
    "mistral": {**GROUPS, **WINDOW, **ROPE, **keys(hidden_act="relu")},
    "qwen2": {**GROUPS, **TIE, **bias(*QKV), **WINDOW, **keys(max_window_layers=0, hidden_act="relu")},
    "qwen3": {**GROUPS, **TIE, **ATTENTION, **WINDOW, **ROPE_PARAMETERS, **norms("q_norm", "k_norm"), "layer_types": withoutAlternation},
    "gemma2": {**GEMMA, **keys(query_pre_attn_scalar=8, attn_logit_softcapping=None)},
    "gemma3_text": {**GEMMA, **norms("q_norm", "k_norm"), **keys(query_pre_attn_scalar=8, rope_local_base_freq=1000.0)},
    "olmo2": {**GROUPS, **ATTENTION, **ROPE, **norms("q_norm", "k_norm", "post_attention_layernorm", "post_feedforward_layernorm")},
    "gpt2": {**TIE, **bias("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj", "ln_1", "ln_2", "ln_f"), "positions": lambda variant: variant.zero("wpe.weight"),
             **keys(activation_function="relu", scale_attn_weights=False, scale_attn_by_inverse_layer_idx=False)},
}
