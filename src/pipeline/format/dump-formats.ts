/** Formats whose documents carry their own ids. */
export const dumpFormats = ['bulk', 'elasticdump', 'search'] as const

export type DumpFormat = (typeof dumpFormats)[number]

export function isDump(format: unknown): format is DumpFormat {
  return dumpFormats.some(name => name === format)
}
