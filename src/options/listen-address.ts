/** Reads the address that Sluice listens on, and names what is wrong with it. */

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Reads `ADDRESS:PORT`, `[IPV6]:PORT`, or `PORT` on 127.0.0.1. */
export function listenAddressIn(text: string): ListenAddress | undefined {
  const [, v6, name = '127.0.0.1', port = ''] = /^(?:(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):)?(\d{1,5})$/i.exec(text) ?? []
  return port === '' || Number(port) > 65_535 ? undefined : { host: v6 ?? name, port: Number(port) }
}

/** Returns in words why the system does not listen there, if there are words for it. */
export function listenProblem(error: unknown): string | undefined {
  return problems[(error as NodeJS.ErrnoException).code ?? '']
}

const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program. Stop it, or pass another port',
  EACCES: 'is a port that this user cannot open. Pass a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is a name that cannot be resolved',
}
