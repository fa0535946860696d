/** Recognises dates in texts, by the formats of Elasticsearch that read them. */

const minutes = String.raw`\d{2}:\d{2}`
const time = String.raw`${minutes}:\d{2}`
const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const weekday = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'

const formats: readonly (readonly [
  format: string,
  pattern: RegExp,
  order: readonly ['year' | 'month' | 'day', number][],
])[] = [
  [
    'strict_date_optional_time',
    new RegExp(
      String.raw`^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}(?::\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$`,
    ),
    [
      ['year', 1],
      ['month', 2],
      ['day', 3],
    ],
  ],
  [
    'yyyy-MM-dd HH:mm:ss',
    new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2}) ${time}$`),
    [
      ['month', 2],
      ['day', 3],
    ],
  ],
  [
    'yyyy-MM-dd HH:mm:ss.SSS',
    new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2}) ${time}\\.\\d{3}$`),
    [
      ['month', 2],
      ['day', 3],
    ],
  ],
  [
    'yyyy/MM/dd',
    /^(\d{4})\/(\d{2})\/(\d{2})$/,
    [
      ['month', 2],
      ['day', 3],
    ],
  ],
  [
    'yyyy/MM/dd HH:mm:ss',
    new RegExp(`^(\\d{4})/(\\d{2})/(\\d{2}) ${time}$`),
    [
      ['month', 2],
      ['day', 3],
    ],
  ],
  [
    'dd.MM.yyyy',
    /^(\d{2})\.(\d{2})\.(\d{4})$/,
    [
      ['month', 2],
      ['day', 1],
    ],
  ],
  [
    'dd.MM.yyyy HH:mm:ss',
    new RegExp(`^(\\d{2})\\.(\\d{2})\\.(\\d{4}) ${time}$`),
    [
      ['month', 2],
      ['day', 1],
    ],
  ],
  [
    'dd/MM/yyyy',
    /^(\d{2})\/(\d{2})\/(\d{4})$/,
    [
      ['month', 2],
      ['day', 1],
    ],
  ],
  [
    'MM/dd/yyyy',
    /^(\d{2})\/(\d{2})\/(\d{4})$/,
    [
      ['month', 1],
      ['day', 2],
    ],
  ],
  [
    'dd/MM/yyyy HH:mm:ss',
    new RegExp(`^(\\d{2})/(\\d{2})/(\\d{4}) ${time}$`),
    [
      ['month', 2],
      ['day', 1],
    ],
  ],
  [
    'MM/dd/yyyy HH:mm:ss',
    new RegExp(`^(\\d{2})/(\\d{2})/(\\d{4}) ${time}$`),
    [
      ['month', 1],
      ['day', 2],
    ],
  ],
  [
    'yyyy-MM-dd HH:mm',
    new RegExp(`^(\\d{4})-(\\d{2})-(\\d{2}) ${minutes}$`),
    [
      ['month', 2],
      ['day', 3],
    ],
  ],
  [
    'dd.MM.yyyy HH:mm',
    new RegExp(`^(\\d{2})\\.(\\d{2})\\.(\\d{4}) ${minutes}$`),
    [
      ['month', 2],
      ['day', 1],
    ],
  ],
  [
    'dd/MM/yyyy HH:mm',
    new RegExp(`^(\\d{2})/(\\d{2})/(\\d{4}) ${minutes}$`),
    [
      ['month', 2],
      ['day', 1],
    ],
  ],
  [
    'MM/dd/yyyy HH:mm',
    new RegExp(`^(\\d{2})/(\\d{2})/(\\d{4}) ${minutes}$`),
    [
      ['month', 1],
      ['day', 2],
    ],
  ],
  // As web servers log it, and as mail and HTTP headers have it.
  ['dd/MMM/yyyy:HH:mm:ss Z', new RegExp(`^(\\d{2})/${month}/\\d{4}:${time} [+-]\\d{4}$`), [['day', 1]]],
  [
    'EEE, dd MMM yyyy HH:mm:ss Z',
    new RegExp(`^${weekday}, (\\d{2}) ${month} \\d{4} ${time} [+-]\\d{4}$`),
    [['day', 1]],
  ],
]

const most = { year: 9999, month: 12, day: 31 }

/** Returns the formats that read a text. A text such as 03/04/2026 has two. */
export function dateFormatsOf(text: string): readonly string[] {
  // Most texts are no dates.
  if (text.length < 10 || text.length > 35 || !/^(?:\d{2}|[A-Z][a-z]{2}, )/.test(text)) return []
  return formats.flatMap(([format, pattern, parts]) => {
    const found = pattern.exec(text)
    const isDate = found !== null && parts.every(([part, at]) => isPart(Number(found[at]), most[part]))
    return isDate ? [format] : []
  })
}

function isPart(value: number, limit: number): boolean {
  return value >= 1 && value <= limit
}
