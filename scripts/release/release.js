// npm run release [-- --publish]
// Checks that the project can be released, and makes in .cache/release what a release consists of: the package, the bill of materials, the
// executable for Linux, the notices and the checksums. `--publish`: publishes this package, with its provenance. npm writes that only in CI.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const release = join(root, '.cache', 'release')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

run('node', 'scripts/release/home.js')
refuseIf(printed('git', 'status', '--porcelain') !== '', 'some changes are not committed')
const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
refuseIf(!changes.includes(`\n## ${version}`), `CHANGELOG.md has no section ${version}`)

run('npm', 'ci')
run('node', 'scripts/pack-check.js', '--nodes', '20,22,24,26')
rmSync(release, { recursive: true, force: true })
mkdirSync(release, { recursive: true })
run('npm', 'pack', '--ignore-scripts', '--pack-destination', release)
writeFileSync(join(release, `sluice-${version}.cdx.json`), printed('node', 'scripts/release/sbom.js'))
run('node', 'scripts/release/executable.js')
copyFileSync(join(root, 'dist', 'THIRD-PARTY-NOTICES.txt'), join(release, 'THIRD-PARTY-NOTICES.txt'))
writeFileSync(join(release, 'SHA256SUMS'), sums())

const publish = [
  'publish',
  join(release, `sluice-${version}.tgz`),
  '--provenance',
  '--access',
  'public',
  '--ignore-scripts',
]
if (process.argv.includes('--publish')) run('npm', ...publish)
else console.log(`Ready in ${release}. In CI: npm run release -- --publish`)

function sums() {
  const names = readdirSync(release).toSorted()
  const sumOf = name =>
    createHash('sha256')
      .update(readFileSync(join(release, name)))
      .digest('hex')
  return names.map(name => `${sumOf(name)}  ${name}\n`).join('')
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  refuseIf(status !== 0, `${command} ${args.join(' ')} failed`)
}

function printed(command, ...args) {
  return execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 })
}

function refuseIf(isWrong, reason) {
  if (!isWrong) return
  console.error(`Not released: ${reason}`)
  process.exit(1)
}
