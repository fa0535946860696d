/** Random texts of lines, as files have them, and random places to cut them. */
import type { Seeded } from './seeded.js'

const MARK = '\ufeff'

/** Documents, broken and blank lines, with any line end. Some texts begin with a byte order mark, and some lack the last line end. */
export function randomText(random: Seeded, longest = 60): Buffer {
  const ends = random.pick([['\n'], ['\r\n'], ['\n', '\r\n', '\n\n', ' \n', '\n\t\n']])
  const lines = Array.from({ length: random.below(12) }, (_, n) => lineOf(random, n, longest) + random.pick(ends))
  const text = (random.chance(0.2) ? MARK : '') + lines.join('')
  return Buffer.from(random.chance(0.3) ? text.trimEnd() : text)
}

function lineOf(random: Seeded, n: number, longest: number): string {
  if (random.chance(0.1)) return ''
  if (random.chance(0.1)) return random.pick(['not json', '[1]', '\r', '{"n":', 'é'])
  const fill = 'ä'.repeat(random.below(random.chance(0.3) ? longest : 8))
  return `${random.pick(['', '', ' '])}{"n":${n},"fill":"${fill}"}`
}

/** Offsets from 0 to the end, of ranges that join each other. Some end within a line, or at its end, or hold no line. */
export function randomCuts(random: Seeded, text: Buffer): number[] {
  const cuts = new Set<number>()
  const most = random.pick([1, 3, 10, text.length])
  for (let count = random.below(most + 1); count > 0; count -= 1) {
    const at = random.below(text.length + 1)
    const lineFeed = text.indexOf('\n', at)
    cuts.add(random.chance(0.4) && lineFeed !== -1 ? lineFeed + random.below(3) : at)
  }
  const inside = [...cuts].filter(at => at > 0 && at < text.length).toSorted((one, other) => one - other)
  return [0, ...inside, text.length]
}
