// Makes one program of the model of the world and of Sluice's sources, which starts sooner than a runner of tests. A sin is a text of
// the sources that is replaced by another one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Returns the path of the program. Fails if a source no longer has the text of the sin. */
export async function bundleWorld(name, sins = []) {
  const planted = new Set()
  const bundle = await rolldown({
    input: join(root, 'test/world/main.ts'),
    platform: 'node',
    cwd: root,
    // Packages stay where they are.
    external: /^(?!@oxc-project)[^./\0]/,
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    transform: { target: 'es2023' },
    plugins: [
      { name: 'plant', load: id => plant(id, sins, planted) },
      // Each source keeps its place: some start programs beside them.
      { name: 'place', transform: (code, id) => code.replaceAll('import.meta.url', () => JSON.stringify(placeOf(id))) },
    ],
    onLog: (level, { message }) => {
      throw new Error(`${level}: ${message}`)
    },
  })
  const file = join(root, '.cache/world', `${name}.mjs`)
  await bundle.write({ file, format: 'esm', codeSplitting: false })
  const missed = sins.filter(sin => !planted.has(sin))
  if (missed.length > 0) throw new Error(`no longer loaded: ${missed.map(({ file: path }) => path).join(', ')}`)
  return file
}

function placeOf(id) {
  return pathToFileURL(id).href
}

function plant(id, sins, planted) {
  let text
  for (const sin of sins.filter(({ file }) => id === join(root, file))) {
    text ??= readFileSync(id, 'utf8')
    const parts = text.split(sin.from)
    if (parts.length !== 2) throw new Error(`${sin.file} has ${parts.length - 1} times: ${sin.from}`)
    text = parts.join(sin.to)
    planted.add(sin)
  }
  return text
}
