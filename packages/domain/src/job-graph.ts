/** One node of a graph waits for another. */
export interface GraphEdge {
  readonly parent: string;
  readonly child: string;
}

/** What is wrong with a graph. */
export interface GraphProblem {
  readonly kind:
    | 'too_many_nodes'
    | 'too_many_edges'
    | 'repeated_node'
    | 'unknown_node'
    | 'repeated_edge'
    | 'cycle';
  /** A sentence for people. */
  readonly message: string;
  /** The nodes that it is about; those of a cycle in their order, the first one not repeated. */
  readonly nodes: readonly string[];
}

/** Jobs of one graph or chain at most. */
export const maxGraphNodes = 10_000;
/** Edges of one graph at most. */
export const maxGraphEdges = 100_000;

/** Answers the first thing that is wrong with a graph of jobs, or nothing when all of it can run to its end. */
export function checkGraph(
  nodes: readonly string[],
  edges: readonly GraphEdge[],
): GraphProblem | undefined {
  return checkSize(nodes, edges) ?? checkNames(nodes, edges) ?? checkCycles(nodes, edges);
}

function checkSize(
  nodes: readonly string[],
  edges: readonly GraphEdge[],
): GraphProblem | undefined {
  if (nodes.length > maxGraphNodes) {
    const message = `A graph has at most ${String(maxGraphNodes)} jobs, not ${String(nodes.length)}`;
    return { kind: 'too_many_nodes', message, nodes: [] };
  }
  if (edges.length > maxGraphEdges) {
    const message = `A graph has at most ${String(maxGraphEdges)} edges, not ${String(edges.length)}`;
    return { kind: 'too_many_edges', message, nodes: [] };
  }
  return undefined;
}

function checkNames(
  nodes: readonly string[],
  edges: readonly GraphEdge[],
): GraphProblem | undefined {
  const known = new Set<string>();
  for (const node of nodes) {
    if (known.has(node)) {
      return { kind: 'repeated_node', message: `There are two jobs "${node}"`, nodes: [node] };
    }
    known.add(node);
  }
  const parentsOf = new Map<string, Set<string>>();
  for (const { parent, child } of edges) {
    const unknown = [parent, child].find((node) => !known.has(node));
    if (unknown !== undefined) {
      const message = `"${unknown}" is no job of this graph`;
      return { kind: 'unknown_node', message, nodes: [unknown, child] };
    }
    const parents = parentsOf.get(child) ?? new Set();
    parentsOf.set(child, parents);
    if (parents.has(parent)) {
      const message = `"${child}" waits twice for "${parent}"`;
      return { kind: 'repeated_edge', message, nodes: [child, parent] };
    }
    parents.add(parent);
  }
  return undefined;
}

/** Takes nodes without parents away until none is left (Kahn, 1962); what is left then has a cycle. */
function checkCycles(
  nodes: readonly string[],
  edges: readonly GraphEdge[],
): GraphProblem | undefined {
  const parentCounts = new Map(nodes.map((node) => [node, 0]));
  const childrenOf = new Map<string, string[]>();
  for (const { parent, child } of edges) {
    parentCounts.set(child, (parentCounts.get(child) ?? 0) + 1);
    const children = childrenOf.get(parent);
    if (children === undefined) childrenOf.set(parent, [child]);
    else children.push(child);
  }
  const free = nodes.filter((node) => parentCounts.get(node) === 0);
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    parentCounts.delete(node);
    for (const child of childrenOf.get(node) ?? []) {
      const left = (parentCounts.get(child) ?? 0) - 1;
      parentCounts.set(child, left);
      if (left === 0) free.push(child);
    }
  }
  if (parentCounts.size === 0) return undefined;
  const cycle = cycleAmong(new Set(parentCounts.keys()), edges);
  const shown = cycle.length > 10 ? [...cycle.slice(0, 10), '…'] : [...cycle, cycle[0] ?? ''];
  const message = `The jobs wait for each other in a circle: ${shown.join(' → ')}`;
  return { kind: 'cycle', message, nodes: cycle };
}

/** Each of the nodes has a parent among them; walking up ends in a circle. */
function cycleAmong(nodes: ReadonlySet<string>, edges: readonly GraphEdge[]): readonly string[] {
  const parentOf = new Map<string, string>();
  for (const { parent, child } of edges) {
    if (nodes.has(parent) && nodes.has(child)) parentOf.set(child, parent);
  }
  const path: string[] = [];
  const positions = new Map<string, number>();
  let [node] = nodes;
  while (node !== undefined && !positions.has(node)) {
    positions.set(node, path.length);
    path.push(node);
    node = parentOf.get(node);
  }
  return path.slice(positions.get(node ?? '') ?? 0).reverse();
}
