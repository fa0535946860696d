// Checks which files are packed: all that the package needs, and nothing that no door leads to.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const texts = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'SECURITY.md', 'SUPPORT.md', 'package.json']
const needed = ['bin/package.json', 'bin/sluice.js', 'dist/THIRD-PARTY-NOTICES.txt', 'dist/bin/main.cjs', ...texts]
/** Files of the build without a source. */
const made = ['dist/apache-arrow.d.ts']
/** The guides also name measurements and tests, which are only in the repository. */
const elsewhere = /^(bench|test)\//

/** `paths`: as `npm pack --json` lists them. `folder`: where they are. */
export function checkContents(paths, folder = root) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const doors = Object.values(manifest.exports).flatMap(door => (typeof door === 'string' ? [] : Object.values(door)))
  const files = doors.flatMap(door => [door, door.replace(/\.(c?)js$/, '.d.$1ts')]).map(path => path.slice(2))
  const problems = {
    missing: [...needed, ...files].filter(path => !paths.includes(path)),
    strange: paths.filter(path => !/^(bin|dist|docs|examples|schema)\//.test(path) && !texts.includes(path)),
    stale: paths.filter(
      path =>
        /^dist\/.*\.(js|ts)$/.test(path) && !path.startsWith('dist/bin/') && !made.includes(path) && !hasSource(path),
    ),
    secret: paths.filter(path => /\.(env|key|pem|log)$|(^|\/)\.(?!gitkeep)/.test(path)),
    links: paths.filter(path => path.endsWith('.md')).flatMap(path => brokenLinks(path, paths, folder)),
  }
  if (Object.values(problems).some(({ length }) => length > 0)) throw new Error(JSON.stringify(problems, undefined, 2))
}

/** A file that an older build left behind has no source any more. */
function hasSource(path) {
  const source = path.replace(/^dist\//, '').replace(/(\.d\.ts|\.js)$/, '.ts')
  return existsSync(join(root, 'src', source))
}

/** Returns the links that lead to no file or folder of the package. */
function brokenLinks(page, paths, folder) {
  const links = [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\((?![a-z]+:|#)([^)\s#]+)/g)]
  const targets = links.map(([, link]) => posix.normalize(posix.join(dirname(page), link)))
  return targets
    .filter(path => !paths.some(one => one === path || one.startsWith(`${path}/`)))
    .filter(path => page === 'README.md' || !elsewhere.test(path))
    .map(path => `${page}: ${path}`)
}
