"""weft model: the families, and what a model is and needs."""

import json
import re

from training import TrainingTest

#: Of the run of TrainingTest: embedding, head, last norm; per layer attention with one group for two heads, feed-forward, norms.
HIDDEN, INNER, LAYERS, VOCABULARY, SEQUENCE = 32, 64, 2, 257, 32
LAYER = 2 * HIDDEN * HIDDEN + 2 * 16 * HIDDEN + 3 * INNER * HIDDEN + 2 * HIDDEN
PARAMETERS = 2 * VOCABULARY * HIDDEN + HIDDEN + LAYERS * LAYER


class Model(TrainingTest):
    def show(self, *options, file="run.yaml"):
        return json.loads(self.passes("weft", "model", "show", file, "--json", *options))

    def explained(self, *sets):
        """Bytes by category, of the memory plan of one device."""
        printed = self.passes("weft", "compile", "run.yaml", "--explain", "memory", *(word for one in sets for word in ("--set", one)))
        return {category: int(count) for category, count in re.findall(r"^  (\w+) +(\d+) bytes", printed, re.MULTILINE)}

    def testTheFamiliesAreListedWithTheirKeys(self):
        printed = self.passes("weft", "model", "list")
        self.assertIn("llama: pre-norm decoder with rotary attention", printed)
        families = {family["family"]: family["keys"] for family in json.loads(self.passes("weft", "model", "list", "--json"))}
        for key in ("hidden_size", "rope_theta", "rope_scaling", "attention_bias", "tie_word_embeddings"):
            self.assertIn(key, families["llama"])

    def testAModelIsShownBlockByBlock(self):
        report = self.show()
        self.assertEqual(report["parameter_count"], PARAMETERS)
        self.assertEqual(sum(block["parameters"] for block in report["blocks"]), PARAMETERS)
        blocks = {block["name"]: block for block in report["blocks"]}
        self.assertEqual(blocks["model.layers.*.mlp"], {"name": "model.layers.*.mlp", "layers": 2, "parameters": LAYERS * 3 * INNER * HIDDEN})
        self.assertEqual(blocks["model.embed_tokens"]["parameters"], VOCABULARY * HIDDEN)
        printed = self.passes("weft", "model", "show", "run.yaml")
        self.assertIn(f"llama: {PARAMETERS:,} parameters in 21 tensors\n", printed)
        self.assertRegex(printed, r"model\.layers\.\*\.mlp +2 +6,144 +12,288 +35\.1%")

    def testOperationsPerTokenAreThoseOfTheProducts(self):
        matrices = PARAMETERS - (2 * LAYERS + 1) * HIDDEN - VOCABULARY * HIDDEN
        attention = 12 * LAYERS * HIDDEN * SEQUENCE / 2
        self.assertEqual(self.show()["flops_per_token"], 6 * matrices + attention)

    def testBytesAreThoseOfTheMemoryPlan(self):
        mesh = self.show()["meshes"][0]
        plan = self.explained()
        self.assertEqual(mesh["mesh"], "the run's")
        self.assertEqual(mesh["bytes"], sum(plan.values()))
        for key, category in (("parameter_bytes", "parameters"), ("gradient_bytes", "gradients"), ("optimizer_bytes", "optimizer")):
            self.assertEqual(mesh[key], plan[category])
        self.assertGreaterEqual(mesh["parameter_bytes"], 4 * PARAMETERS)
        self.assertLess(mesh["parameter_bytes"], 4.1 * PARAMETERS)
        self.assertGreaterEqual(mesh["optimizer_bytes"], 8 * PARAMETERS)

    def testMeshesShareThem(self):
        report = self.show("--mesh", "data_shard=2,zero=1", "--mesh", "data_shard=2,zero=3", "--mesh", "tensor=2")
        one, zero1, zero3, tensor = report["meshes"]
        self.assertEqual([mesh["ranks"] for mesh in report["meshes"]], [1, 2, 2, 2])
        self.assertLess(zero1["parameter_bytes"], 0.55 * one["parameter_bytes"])  # kept in parts, gathered for a step
        self.assertLess(zero1["optimizer_bytes"], 0.55 * one["optimizer_bytes"])
        self.assertLess(zero3["parameter_bytes"], 0.55 * one["parameter_bytes"])
        self.assertLess(tensor["parameter_bytes"], 0.6 * one["parameter_bytes"])
        self.assertEqual(tensor["mesh"], "tensor=2")

    def testAConfigJsonIsAModelToo(self):
        self.write("config.json", json.dumps({"model_type": "llama", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": 2,
                                              "num_key_value_heads": 1, "intermediate_size": INNER, "vocab_size": VOCABULARY}))
        report = self.show("--sequence-length", "32", file="config.json")
        self.assertEqual(report["parameter_count"], PARAMETERS)
        self.assertEqual(report["flops_per_token"], self.show()["flops_per_token"])
        self.assertEqual(report["meshes"][0]["mesh"], "one rank")

    def testMistakesAreRefused(self):
        self.refuses(2, "parallel.tensors: no such key. Did you mean tensor?", "weft", "model", "show", "run.yaml", "--mesh", "tensors=2")
        self.refuses(2, "nowhere.yaml", "weft", "model", "show", "nowhere.yaml")
        self.write("config.json", '{"model_type": "llama"}')
        self.refuses(2, "model.hidden_size: is missing", "weft", "model", "show", "config.json")
        self.write("config.json", json.dumps({"model_type": "llama", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": 2,
                                              "intermediate_size": INNER, "vocab_size": VOCABULARY}))
        self.refuses(2, "says nothing of one", "weft", "model", "show", "config.json", "--mesh", "tensor=2")
