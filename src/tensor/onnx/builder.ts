import { bytesOf, floatsOf, type Known } from "./constants.js";
import type { OnnxModel, OnnxNode, OnnxTensor } from "./model.js";

/** A model built anew from an old one: nodes are added in order, and the values of old nodes may get new names. */
export class ModelBuilder {
  readonly nodes: OnnxNode[] = [];
  readonly initialisers = new Map<string, OnnxTensor>();
  readonly producers = new Map<string, OnnxNode>();
  private readonly renamed = new Map<string, string>();
  private readonly taken: Set<string>;
  private count = 0;

  constructor(readonly model: OnnxModel) {
    for (const tensor of model.initialisers) this.initialisers.set(tensor.name, tensor);
    this.taken = new Set([
      ...this.initialisers.keys(),
      ...[...model.inputs, ...model.outputs].map(({ name }) => name),
      ...model.nodes.flatMap(({ outputs }) => outputs),
    ]);
  }

  name(old: string): string {
    return this.renamed.get(old) ?? old;
  }

  /** The old value `old` is the value `name` from here on. */
  rename(old: string, name: string): void {
    this.renamed.set(old, name);
  }

  /** A name that no value has. */
  fresh(): string {
    let name: string;
    do name = `s${this.count++}`;
    while (this.taken.has(name));
    return name;
  }

  push(node: OnnxNode): void {
    this.nodes.push(node);
    for (const output of node.outputs) this.producers.set(output, node);
  }

  /** Adds a node with one result of a new name. */
  add(op: string, inputs: readonly string[], attributes: OnnxNode["attributes"] = {}, domain = ""): string {
    const output = this.fresh();
    this.push({ op, inputs, outputs: [output], attributes, domain });
    return output;
  }

  /** Adds a constant under a new name. */
  tensor(tensor: Omit<OnnxTensor, "name">): string {
    const name = this.fresh();
    this.initialisers.set(name, { name, ...tensor });
    return name;
  }

  constant({ shape, data }: Known): string {
    return this.tensor({ shape, dtype: "float32", bytes: bytesOf(data) });
  }

  known(name: string): Known | undefined {
    const tensor = this.initialisers.get(name);
    return tensor?.dtype === "float32" ? { shape: tensor.shape, data: floatsOf(tensor) } : undefined;
  }

  finish(): OnnxModel {
    return { ...this.model, nodes: this.nodes, initialisers: [...this.initialisers.values()] };
  }
}

/** Without what no output needs. */
export function prune(model: OnnxModel): OnnxModel {
  const needed = new Set(model.outputs.map(({ name }) => name));
  const nodes: OnnxNode[] = [];
  for (const node of [...model.nodes].reverse()) {
    if (!node.outputs.some((name) => needed.has(name))) continue;
    for (const name of node.inputs) needed.add(name);
    nodes.unshift(node);
  }
  return { ...model, nodes, initialisers: model.initialisers.filter(({ name }) => needed.has(name)) };
}
