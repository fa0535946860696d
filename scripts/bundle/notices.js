// Writes the licences of the packages inside a build: whoever passes a package on has to pass on its licence.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const file = 'THIRD-PARTY-NOTICES.txt'
const intro =
  'These packages are inside the program (bin), the doors for CommonJS (cjs), lab/certificates.js and features/metrics/run-metrics.js. Their licences follow this list.'

/** `modules`: the files that the bundles are made of. */
export function writeNotices(build, modules) {
  const packages = [...new Set(modules.flatMap(folderOf))]
    .map(read)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const bare = packages.filter(({ texts }) => texts.length === 0)
  if (bare.length > 0) throw new Error(`no licence text: ${bare.map(({ id }) => id).join(', ')}`)
  const list = packages.map(({ id, license }) => `${id} (${license})`)
  const parts = packages.map(({ id, texts }) => [`--- ${id} ---`, ...texts].join('\n\n'))
  writeFileSync(join(build, file), `${[intro, list.join('\n'), ...parts].join('\n\n')}\n`)
}

/** Returns the packages inside a build, as `name@version`. */
export function packagesInside(build) {
  const [, list = ''] = readFileSync(join(build, file), 'utf8').split('\n\n', 2)
  return list.split('\n').map(line => line.split(' ', 1)[0])
}

/** Returns the folder of the package that a module is from, if it is not ours. */
function folderOf(module) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.slice(0, 1) ?? []
}

function read(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter(name => /^(licen[cs]e|notice)(\.|$)/i.test(name))
  return {
    id: `${name}@${version}`,
    license,
    texts: files.map(name => readFileSync(join(folder, name), 'utf8').trim()),
  }
}
