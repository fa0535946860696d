// node scripts/release/sbom.js [BUILD]
// Prints the bill of materials (CycloneDX): the packages that an installation of Sluice brings, and those inside its bundles.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packagesInside } from '../bundle/notices.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const build = resolve(process.argv[2] ?? root)
const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const inside = packagesInside(join(build, 'dist'))
const args = ['sbom', '--sbom-format', 'cyclonedx']
const whole = JSON.parse(
  execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8, stdio: ['ignore', 'pipe', 'ignore'] }),
)
const brought = installed()
const shipped = new Set([...brought, ...inside])
const components = whole.components.filter(one => shipped.has(refOf(one)))
const missing = [...shipped].filter(ref => !components.some(one => refOf(one) === ref))
if (missing.length > 0) throw new Error(`npm does not know ${missing.join(', ')}`)

const { component } = whole.metadata
const edges = whole.dependencies.filter(({ ref }) => ref === refOf(component) || shipped.has(ref))
const made = {
  ...whole,
  metadata: { ...whole.metadata, component: { ...component, name } },
  components: components.map(marked),
  dependencies: edges.map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(one => shipped.has(one)) })),
}
console.log(JSON.stringify(made, undefined, 2))

/** Returns the packages that `npm install sluice` installs, as `name@version`. */
function installed() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const needed = Object.entries(packages).filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
  return needed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`)
}

function refOf(component) {
  return component['bom-ref']
}

/** Tells what is inside a bundle. To npm, much of that is for development. */
function marked(component) {
  const properties = component.properties.filter(one => one.name !== 'cdx:npm:package:development')
  const isInside = inside.includes(refOf(component))
  return {
    ...component,
    properties: isInside ? [...properties, { name: 'cdx:npm:package:bundled', value: 'true' }] : properties,
  }
}
