// node scripts/check.js
// Checks the format, the style, the types and what nobody uses, side by side, and prints what each of them finds.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// Two of the tools are written in Go: they collect less garbage while there is room.
const env = { GOGC: '400', GOMEMLIMIT: '3GiB', ...process.env }
const tools = ['oxlint --type-aware', 'tsc', 'knip', 'oxfmt --check']
const codes = await Promise.all(tools.map(run))
process.exitCode = Math.max(...codes)

/** `npm run` puts the tools on the path. */
async function run(command) {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const child = spawn(command, { cwd, env, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(chunk))
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  process.stdout.write(`${command}\n${Buffer.concat(output).toString()}`)
  return code ?? 1
}
