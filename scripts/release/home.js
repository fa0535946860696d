// node scripts/release/home.js [URL]
// Sets where the project lives, in package.json. Without a URL: fails while that is a placeholder. Nothing is published before.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../../package.json', import.meta.url))
const manifest = JSON.parse(readFileSync(file, 'utf8'))

if (process.argv[2] === undefined) {
  const { hostname } = new URL(manifest.homepage)
  if (hostname.endsWith('.example')) {
    console.error(
      `${hostname} is a placeholder. Set the home first: node scripts/release/home.js https://HOST/OWNER/sluice`,
    )
    process.exitCode = 1
  }
} else {
  const home = new URL(process.argv[2]).href.replace(/\/$|\.git$/, '')
  const repository = { type: 'git', url: `git+${home}.git` }
  writeFileSync(
    file,
    `${JSON.stringify({ ...manifest, homepage: `${home}#readme`, bugs: { url: `${home}/issues` }, repository }, null, 2)}\n`,
  )
}
