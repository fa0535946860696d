/** Rotates files by the genuine logrotate. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import type { Rotate } from '../world.js'

/** A story keeps to one of them, as a machine does. */
const packings = ['', 'compress', 'compress\n delaycompress']

/** `logrotate`: its path. */
export function rotateBy(logrotate: string): Rotate {
  return ({ path, isCopied, packing, mayPack }) => {
    const folder = dirname(dirname(path))
    const [file, state] = [join(folder, 'logrotate.conf'), join(folder, 'logrotate.state')]
    // The format is known by the ending.
    const ending = /\.(csv|tsv|json)$/.test(path) ? `extension ${extname(path)}` : ''
    const packs = mayPack ? packings[packing % packings.length] : ''
    const how = isCopied ? 'copytruncate' : 'create 0644 root root'
    writeFileSync(file, `${path} {\n su root root\n rotate 50\n ${how}\n ${ending}\n ${packs}\n}\n`)
    execFileSync(logrotate, ['-f', '-s', state, file], { stdio: 'pipe' })
  }
}
