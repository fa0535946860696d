import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagesInside } from '../bundle/notices.js'

/** Licences that ask for nothing but their own text. */
export const permissive = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']
/** Packages that ask for more: who changes their files publishes the changes. Only tests use them, and no part of them reaches a user. */
export const forTestsOnly = { lightningcss: 'MPL-2.0' }

/** Returns the licences of all packages, as the lockfile knows them. `build`: the folder of the built package. */
export function licencesPage(root, build) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const inside = new Set(packagesInside(build))
  const groups = { installed: [], inside: [], tools: [] }
  for (const [path, entry] of Object.entries(packages)) {
    if (path === '') continue
    const name = entry.name ?? path.replace(/^.*node_modules\//, '')
    const one = { name, version: entry.version, licence: entry.license ?? 'unknown' }
    const isInside = inside.has(`${name}@${entry.version}`)
    if (isInside) groups.inside.push(one)
    if (!entry.dev && !entry.devOptional) groups.installed.push(one)
    else if (!isInside) groups.tools.push(one)
  }
  return `<!-- Made by \`npm run docs\` from package-lock.json. -->
# Licences

Sluice has the [MIT licence](../LICENSE). So that you can use it anywhere, every package that it brings has a permissive licence: ${permissive.join(', ')}. The package holds the texts of
those that are inside it, in \`dist/THIRD-PARTY-NOTICES.txt\`.

## Installed with Sluice

${table(groups.installed)}

## Inside the program and the doors

${table(groups.inside)}

## Only for building and testing

These packages are not in the package of Sluice, and \`npm install\` does not bring them. Some are optional, such as \`@aws-sdk/client-s3\`: you install them yourself if you need them.
${exceptions()}

${byLicence(groups.tools)}
`
}

function exceptions() {
  const named = Object.entries(forTestsOnly).map(([name, licence]) => `\`${name}\` (${licence})`)
  return `The only licence that is not permissive is that of ${named.join(', ')}, with the files that it has for each platform. Only the test runner uses it.`
}

function table(packages) {
  const rows = unique(packages.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`))
  return ['| Package | Version | Licence |', '| --- | --- | --- |', ...rows].join('\n')
}

function byLicence(packages) {
  const licences = unique(packages.map(({ licence }) => licence))
  const rows = licences.map(licence => {
    const names = unique(packages.filter(one => one.licence === licence).map(({ name }) => name))
    return `| ${licence} | ${names.join(', ')} |`
  })
  return ['| Licence | Packages |', '| --- | --- |', ...rows].join('\n')
}

function unique(texts) {
  return [...new Set(texts)].toSorted((one, other) => (one < other ? -1 : 1))
}
