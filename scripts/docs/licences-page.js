import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagesInside } from '../bundle/notices.js'

/** Licences that ask for nothing but their own text. */
export const permissive = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']

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

These packages reach no user. They include the optional ones, such as \`@aws-sdk/client-s3\`, that you install yourself if you need them.

${byLicence(groups.tools)}
`
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
