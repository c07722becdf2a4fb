import { checkGraph, maxGraphEdges, maxGraphNodes } from '@holdfast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const edge = (parent: string, child: string) => ({ parent, child });
const names = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('checkGraph', () => {
  it('accepts any edges that lead from earlier nodes to later ones, in whatever order they come', () => {
    const pair = fc.tuple(fc.nat(30), fc.nat(30)).filter(([a, b]) => a !== b);
    const pairs = fc.uniqueArray(pair, { selector: ([a, b]) => [a, b].sort().join() });
    fc.assert(
      fc.property(pairs, (all) => {
        const edges = all.map(([a, b]) => edge(String(Math.min(a, b)), String(Math.max(a, b))));
        expect(checkGraph(names(31), edges)).toBeUndefined();
      }),
    );
  });

  it('names the jobs of a circle, wherever it hides', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), (length) => {
        const circle = names(length);
        const edges = circle.map((node, index) => edge(node, circle[(index + 1) % length] ?? ''));
        const problem = checkGraph(['first', 'last', ...circle], [edge('first', '0'), ...edges]);
        expect(problem?.kind).toBe('cycle');
        expect([...(problem?.nodes ?? [])].sort()).toEqual([...circle].sort());
      }),
    );
  });

  it('shows a circle in the order in which its jobs would run', () => {
    const problem = checkGraph(['a', 'b', 'c'], [edge('a', 'b'), edge('b', 'c'), edge('c', 'a')]);
    expect(problem?.message).toMatch(/a → b → c → a|b → c → a → b|c → a → b → c/);
  });

  it.each([
    ['repeated_node', ['a', 'a'], []],
    ['unknown_node', ['a'], [edge('b', 'a')]],
    ['unknown_node', ['a'], [edge('a', 'b')]],
    ['repeated_edge', ['a', 'b'], [edge('a', 'b'), edge('a', 'b')]],
    ['too_many_nodes', names(maxGraphNodes + 1), []],
    ['too_many_edges', ['a', 'b'], Array.from({ length: maxGraphEdges + 1 }, () => edge('a', 'b'))],
  ] as const)('refuses a graph with %s', (kind, nodes, edges) => {
    expect(checkGraph(nodes, edges)?.kind).toBe(kind);
  });

  it('accepts a chain of the greatest length', () => {
    const nodes = names(maxGraphNodes);
    const edges = nodes.slice(1).map((node, index) => edge(String(index), node));
    expect(checkGraph(nodes, edges)).toBeUndefined();
  });
});
