/** Says why a field of places does not take a value. */
import type { Cause } from './answers.js'

/** Whether a type takes points or shapes: objects, arrays and texts. */
export function isGeo(type: string): boolean {
  return type === 'geo_point' || type === 'geo_shape'
}

/** Returns why a field of this type does not take a JSON value. Undefined if the field takes the value. */
export function geoObjection(type: string, value: unknown): Cause | undefined {
  const problem = type === 'geo_point' ? pointsProblem(value) : shapesProblem(value)
  return problem === undefined ? undefined : { type: 'parse_exception', reason: problem }
}

type Json = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An array of numbers is one point, and another array holds points. */
function pointsProblem(value: unknown): string | undefined {
  if (!Array.isArray(value) || typeof value[0] === 'number') return pointProblem(value)
  return (value as unknown[]).map(pointsProblem).find(one => one !== undefined)
}

function pointProblem(value: unknown): string | undefined {
  if (value === null) return undefined
  if (typeof value === 'string') return pointTextProblem(value)
  if (Array.isArray(value)) return placeProblem(value)
  if (!isObject(value)) return 'geo_point expected'
  const { lat, lon, type, coordinates, geohash, ...others } = value
  if (Object.keys(others).length > 0) return 'field must be either [lon|lat], [type|coordinates], or [geohash]'
  if (typeof geohash === 'string') return pointTextProblem(geohash)
  if (type === undefined) {
    const parts = [lon, lat].map(part => (typeof part === 'string' && part.trim() !== '' ? Number(part) : part))
    return parts.includes(undefined) ? 'field [lon] or [lat] missing' : placeProblem(parts)
  }
  if (typeof type !== 'string' || type.toLowerCase() !== 'point') return "[type] for geo_point can only be 'Point'"
  return placeProblem(coordinates)
}

function pointTextProblem(text: string): string | undefined {
  const [, lat, lon] = /^\s*([-+\d.eE]+)\s*,\s*([-+\d.eE]+)(?:\s*,\s*[-+\d.eE]+)?\s*$/.exec(text) ?? []
  if (lat !== undefined) return placeProblem([Number(lon), Number(lat)])
  const [, x, y] = /^\s*point\s*\(\s*([-+\d.eE]+)\s+([-+\d.eE]+)(?:\s+[-+\d.eE]+)?\s*\)\s*$/i.exec(text) ?? []
  if (x !== undefined) return placeProblem([Number(x), Number(y)])
  return /^[0-9b-hjkmnp-z]{1,12}$/i.test(text) ? undefined : `unsupported symbol in geohash [${text}]`
}

function placeProblem(place: unknown): string | undefined {
  if (!isPlace(place)) return '[coordinates] must be an array of two or three numbers'
  const [lon, lat] = place
  if (Math.abs(lat) > 90) return `illegal latitude value [${lat}]`
  return Math.abs(lon) > 180 ? `illegal longitude value [${lon}]` : undefined
}

function isPlace(place: unknown): place is [number, number, ...number[]] {
  if (!Array.isArray(place) || place.length < 2 || place.length > 3) return false
  return (place as unknown[]).every(part => typeof part === 'number' && Number.isFinite(part))
}

/** How deep the places of a shape stand in arrays. */
const depths: Readonly<Record<string, number>> = {
  point: 0,
  multipoint: 1,
  linestring: 1,
  multilinestring: 2,
  polygon: 2,
  multipolygon: 3,
}

function shapesProblem(value: unknown): string | undefined {
  if (value === null) return undefined
  if (Array.isArray(value)) return (value as unknown[]).map(shapesProblem).find(one => one !== undefined)
  if (typeof value === 'string')
    return /^\s*(?:(?:multi)?(?:point|linestring|polygon)|geometrycollection|bbox)\s*\(/i.test(value)
      ? undefined
      : `Unknown geometry type: ${value.split('(')[0]}`
  if (!isObject(value)) return 'shape must be an object consisting of type and coordinates'
  const { type, coordinates, geometries } = value
  if (typeof type !== 'string') return 'shape type not included'
  const kind = type.toLowerCase()
  if (kind === 'geometrycollection')
    return Array.isArray(geometries) ? shapesProblem(geometries) : 'geometries not included'
  const depth = depths[kind]
  if (depth === undefined) return `unknown geo_shape type [${type}]`
  if (!areAt(coordinates, depth)) return 'coordinates have another depth, or are no numbers'
  const lines = kind.endsWith('linestring') ? arraysAt(coordinates, depth - 1) : []
  if (lines.some(line => line.length < 2)) return 'at least two points in the line are required'
  const rings = kind.endsWith('polygon') ? arraysAt(coordinates, depth - 1) : []
  if (rings.some(ring => ring.length < 4)) return 'at least four points in the ring are required'
  return rings.every(isClosed) ? undefined : 'first and last points of the linear ring must be the same'
}

function areAt(value: unknown, depth: number): boolean {
  if (depth === 0) return isPlace(value) && Math.abs(value[1]) <= 90
  return Array.isArray(value) && (value as unknown[]).every(one => areAt(one, depth - 1))
}

/** Returns the arrays of places. */
function arraysAt(value: unknown, depth: number): unknown[][] {
  if (depth === 0) return [value as unknown[]]
  return (value as unknown[]).flatMap(one => arraysAt(one, depth - 1))
}

function isClosed(ring: readonly unknown[]): boolean {
  return JSON.stringify(ring[0]) === JSON.stringify(ring.at(-1))
}
