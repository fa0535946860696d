import { address, clock, levels, methods, phrase, regions, sentences, services, statuses, words } from './words.js'

/**
 * Documents as log shippers write them, about 840 bytes each: requests, application logs with stack traces, trace spans,
 * orders with text in many scripts, and metrics. Each has a string `id` of its own, not always at the same place.
 */
export function logDocuments(random) {
  const time = clock(random)
  const shapes = [request, failure, span, order, metrics]
  let number = 0
  return () => shapes[number++ % shapes.length](random, `doc-${number}`, time())
}

const host = random => ({
  name: `${random.pick(services)}-${random.below(90) + 10}`,
  ip: [address(random), address(random)],
})

function request(random, id, time) {
  return {
    '@timestamp': time,
    id,
    event: { dataset: 'http.access', duration: random.below(4_000_000), sequence: random.below(1e9) },
    http: {
      request: {
        method: random.pick(methods),
        bytes: random.below(60_000),
        referrer: `https://shop.example/${random.pick(words)}`,
      },
      response: { status_code: random.pick(statuses), bytes: random.below(900_000) },
      version: '2',
    },
    url: {
      path: `/v2/${random.pick(words)}/${random.hex(12)}/${random.pick(words)}`,
      query: `q=${random.pick(words)}&page=${random.below(80)}`,
    },
    source: {
      ip: address(random),
      port: random.below(50_000) + 10_000,
      geo: { location: { lat: coordinate(random, 90), lon: coordinate(random, 180) } },
    },
    user_agent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) Gecko/20100101 Firefox/${random.below(40) + 100}.${random.below(9)}`,
    host: host(random),
    cloud: { region: random.pick(regions), account: random.hex(12) },
    message: phrase(random, 6 + random.below(18)),
    tags: random.list(3, () => random.pick(words)),
  }
}

// With at most four decimals, which every JSON library writes back as it read them.
const coordinate = (random, limit) => random.below(limit * 20_000) / 10_000 - limit

function failure(random, id, time) {
  const frame = () =>
    `    at ${random.pick(words)}.${random.pick(words)} (/srv/app/${random.pick(words)}/${random.pick(words)}.js:${random.below(900)}:${random.below(80)})`
  return {
    '@timestamp': time,
    log: { level: random.pick(levels), logger: `${random.pick(services)}.${random.pick(words)}` },
    message: phrase(random, 8 + random.below(16)),
    error: {
      type: `${random.pick(words)}Error`,
      message: random.chance(4) ? random.pick(sentences) : phrase(random, 6),
      stack_trace: random.list(2 + random.below(5), frame).join('\n'),
    },
    id,
    process: { pid: random.below(60_000), thread: { name: `worker-${random.below(32)}` } },
    service: {
      name: random.pick(services),
      version: `${random.below(9)}.${random.below(30)}.${random.below(99)}`,
      environment: 'production',
    },
    labels: { tenant: `t-${random.below(5000)}`, request: random.hex(32), retried: random.chance(8) },
  }
}

function span(random, id, time) {
  const values = [() => random.below(1e6), () => phrase(random, 3), () => random.chance(2), () => null]
  // A name always has values of one type, as an index demands it.
  const attribute = at => [attributes[at][random.below(4)], values[at % 4]()]
  return {
    trace: { id: random.hex(32) },
    transaction: { id: random.hex(16) },
    parent: { id: random.hex(16) },
    span: {
      name: phrase(random, 3),
      kind: random.pick(['client', 'server', 'internal', 'producer']),
      duration: { us: random.below(8_000_000) },
      attributes: Object.fromEntries(random.list(6 + random.below(6), attribute)),
      events: random.list(1 + random.below(3), () => ({
        at: random.below(1e6),
        name: random.pick(words),
        counts: random.list(4, () => random.below(50)),
        detail: {},
      })),
    },
    '@timestamp': time,
    id,
    host: host(random),
    kubernetes: {
      namespace: random.pick(services),
      pod: { name: `${random.pick(services)}-${random.hex(10)}-${random.hex(5)}` },
      node: `node-${random.below(80)}`,
    },
  }
}

const attributes = Array.from({ length: 12 }, (_, at) =>
  Array.from({ length: 4 }, (_, choice) => `${words[at * 4 + choice]}.${words[50 + at]}.${at % 4}`),
)

function order(random, id, time) {
  const item = () => ({
    sku: random.hex(10),
    title: random.pick(sentences),
    quantity: random.below(9) + 1,
    price: random.below(50_000) / 100,
  })
  return {
    id,
    placed: time,
    customer: { name: random.pick(sentences), number: random.below(1e7), member: random.chance(3) },
    items: random.list(2 + random.below(4), item),
    note: random.list(2 + random.below(2), () => random.pick(sentences)).join(' · '),
    shipping: { address: phrase(random, 5), region: random.pick(regions), paid: random.chance(2) },
    history: random.list(random.below(3), () => ({
      by: random.pick(services),
      state: random.pick(words),
      text: phrase(random, 5),
    })),
    total: random.below(9_000_000) / 100,
  }
}

function metrics(random, id, time) {
  return {
    '@timestamp': time,
    metricset: { name: random.pick(['cpu', 'memory', 'diskio', 'network']), period: 10_000 },
    id,
    host: host(random),
    gauges: random.list(14 + random.below(30), () => random.below(1e6) / 1000),
    counters: Object.fromEntries(random.list(12, at => [`${words[at * 3]}.total`, random.below(2e9)])),
    labels: { region: random.pick(regions), rack: `r${random.below(60)}`, owner: random.pick(services) },
    message: phrase(random, 6),
  }
}
