// Puts the packages that make certificates into the module of a build's lab that uses them: nobody else needs these twenty packages.
import { join } from 'node:path'
import { rolldown } from 'rolldown'

/** Returns the files that the module is made of. */
export async function bundleCertificates(build) {
  const file = join(build, 'lab', 'certificates.js')
  const bundle = await rolldown({
    input: file,
    platform: 'node',
    onLog: (level, { message }) => {
      throw new Error(`${level}: ${message}`)
    },
  })
  // Nobody reads it, and the packages ask classes for their names.
  const minify = { mangle: false, compress: false, codegen: { removeWhitespace: true } }
  const { output } = await bundle.write({ file, format: 'esm', comments: false, minify })
  return output.flatMap(({ moduleIds = [] }) => moduleIds)
}
