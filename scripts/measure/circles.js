/** Finds circles: groups of nodes that all lead to each other. By Tarjan's algorithm. */

/** @param {Map<string, Set<string>>} graph @returns {string[][]} groups of two or more */
export function circlesOf(graph) {
  const circles = []
  const numbers = new Map()
  const lowest = new Map()
  const open = []
  const visit = node => {
    numbers.set(node, numbers.size)
    lowest.set(node, numbers.get(node))
    open.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!numbers.has(next)) visit(next)
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node), lowest.get(next)))
    }
    if (lowest.get(node) !== numbers.get(node)) return
    const circle = open.splice(open.indexOf(node))
    if (circle.length > 1) circles.push(circle)
  }
  for (const node of graph.keys()) if (!numbers.has(node)) visit(node)
  return circles
}

/** Returns who imports whom, with every path replaced by `nameOf(path)`. */
export function graphOf(files, nameOf = path => path) {
  const graph = new Map()
  for (const { path, imports } of files) {
    const name = nameOf(path)
    const to = graph.get(name) ?? new Set()
    for (const imported of imports) if (nameOf(imported) !== name) to.add(nameOf(imported))
    graph.set(name, to)
  }
  return graph
}
