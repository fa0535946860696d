/** Draws the districts of src from the top floor down, with the number of imports from each to the ones below. */
import { plan } from '../measure/plan.js'
import { readTree } from '../measure/tree.js'

const begin = '<!-- picture: made by `npm run docs` from the imports of src -->'
const end = '<!-- end of picture -->'

/** Returns the page with a new picture between its marks. */
export function withPicture(page, root) {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (after === undefined) throw new Error(`the page has no ${begin}`)
  return `${before}${begin}\n\`\`\`\n${picture(root)}\n\`\`\`\n${end}${after}`
}

function picture(root) {
  const files = readTree(root)
  const floors = plan.districts.map(({ name }) => name).toReversed()
  const shown = name => (name === '' ? '(doors)' : name)
  const counted = (from, to) =>
    files
      .filter(({ path }) => plan.districtOf(path) === from)
      .flatMap(({ imports }) => imports)
      .filter(path => plan.districtOf(path) === to).length
  const rows = floors.map(from => [shown(from), ...floors.map(to => (from === to ? '·' : counted(from, to) || ''))])
  return [['imports', ...floors.map(shown)], ...rows]
    .map(row => row.map((cell, at) => (at === 0 ? cell.padEnd(9) : String(cell).padStart(9))).join('').trimEnd())
    .join('\n')
}
