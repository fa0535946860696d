/** Returns how often a search looks: a few times in the ordinary run, `all` times with `npm run search`. */
export function rounds(few: number, all: number): number {
  return process.env['SLUICE_SEARCH'] === undefined ? few : all
}
