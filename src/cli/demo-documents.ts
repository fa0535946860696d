const services = ['checkout', 'search', 'catalogue', 'accounts', 'mail'] as const
const paths = ['/', '/items/4711', '/basket', '/login', '/search?q=lamp'] as const

/** NDJSON lines like those of web services, the same on every machine. */
export function* demoDocuments(documents: number): Generator<string> {
  for (let at = 0; at < documents; at++) {
    // A step that shares no factor with the lists, so that combinations vary.
    const mixed = (at * 2_654_435_761) % 4_294_967_296
    const status = mixed % 50 === 0 ? 500 : mixed % 17 === 0 ? 404 : 200
    const document = {
      '@timestamp': new Date(Date.UTC(2026, 0, 1) + at * 137).toISOString(),
      service: services[mixed % services.length],
      path: paths[(mixed >>> 8) % paths.length],
      status,
      duration_ms: 1 + ((mixed >>> 4) % 900),
      message: status === 200 ? 'request served' : 'request failed',
      trace: mixed.toString(16).padStart(8, '0') + at.toString(16).padStart(8, '0'),
    }
    yield `${JSON.stringify(document)}\n`
  }
}
