/** Says what kind of value a JSON value is for a mapping, with numbers as they are written. */
import { isObject, parseJson } from '../../base/json/parse-json.js'

export type ValueKind = 'boolean' | 'long' | 'double' | 'text' | 'object' | 'geo_point' | GeoJsonKind

type GeoJsonKind = 'GeoJSON point' | 'GeoJSON shape'

const NUMBERS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Marks a number that JavaScript would change: 1.0, or 19 digits. Text of documents rarely begins so. */
const MARK = '\u0000'

/** Parses a line. Numbers that JavaScript cannot hold as they are written become marked text. Undefined: no JSON. */
export function parseExactly(line: string): unknown {
  if (!/\d[.eE]|\d{16}/.test(line)) return parseJson(line)
  const marked = line.replace(NUMBERS, token =>
    token.startsWith('"') || !(/[.eE]/.test(token) || token.length > 15) ? token : JSON.stringify(MARK + token),
  )
  return parseJson(marked)
}

/** Returns undefined for null and an empty text, which have no kind. */
export function kindOf(value: unknown): ValueKind | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'boolean'
    case 'number':
      return 'long'
    case 'string':
      if (value.startsWith(MARK)) return isLong(value.slice(1)) ? 'long' : 'double'
      return value === '' ? undefined : 'text'
    default:
      if (!isObject(value)) return undefined
      return isPoint(value) ? 'geo_point' : (geoJsonIn(value) ?? 'object')
  }
}

function isLong(number: string): boolean {
  if (/[.eE]/.test(number)) return false
  const whole = BigInt(number)
  return whole >= -(2n ** 63n) && whole < 2n ** 63n
}

const SHAPES = new Set(['LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'])

/** Returns what an object is in GeoJSON: a place on Earth, and not a feature with other fields. */
function geoJsonIn({ type, coordinates, geometries }: Readonly<Record<string, unknown>>): GeoJsonKind | undefined {
  if (type === 'GeometryCollection') {
    // TopoJSON calls its own shapes so, which have no coordinates.
    const all = Array.isArray(geometries) ? (geometries as unknown[]) : [undefined]
    return all.every(one => isObject(one) && geoJsonIn(one) !== undefined) ? 'GeoJSON shape' : undefined
  }
  if (!Array.isArray(coordinates) || typeof type !== 'string') return undefined
  if (SHAPES.has(type)) return 'GeoJSON shape'
  const [lon, lat] = coordinates as unknown[]
  return type === 'Point' && isWithin(lon, 180) && isWithin(lat, 90) ? 'GeoJSON point' : undefined
}

/** Returns whether an object is a point: a latitude and a longitude, and nothing more. */
function isPoint(value: Readonly<Record<string, unknown>>): boolean {
  const { lat, lon, ...more } = value
  return isWithin(lat, 90) && isWithin(lon, 180) && Object.keys(more).length === 0
}

function isWithin(value: unknown, limit: number): boolean {
  const number = typeof value === 'string' && value.startsWith(MARK) ? Number(value.slice(1)) : value
  return typeof number === 'number' && Math.abs(number) <= limit
}
