// Puts packages into the modules of a build that use them: the lab needs twenty packages to make certificates, the metrics need four.
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const modules = [
  ['lab', 'certificates.js'],
  ['features', 'metrics', 'run-metrics.js'],
]

/** Returns the files that the modules are made of. */
export async function bundleModules(build) {
  const made = []
  for (const path of modules) made.push(...(await bundleModule(join(build, ...path))))
  return made
}

async function bundleModule(file) {
  const bundle = await rolldown({
    input: file,
    platform: 'node',
    // Our own modules stay one per file: other modules load them too.
    external: (id, importer = '') => id.startsWith('.') && importer === file,
    onLog: (level, { message }) => {
      throw new Error(`${level}: ${message}`)
    },
  })
  // Nobody reads it, and the packages ask classes for their names.
  const minify = { mangle: false, compress: false, codegen: { removeWhitespace: true } }
  const { output } = await bundle.write({ file, format: 'esm', comments: false, minify })
  return output.flatMap(({ moduleIds = [] }) => moduleIds)
}
