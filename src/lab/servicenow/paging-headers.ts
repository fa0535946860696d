import type { Page, PageAsked } from './read-page.js'

/**
 * Returns X-Total-Count, and Link with the first, previous, next and last page. The page before the first has the offset
 * -1. If one page holds all rows, there is no Link.
 */
export function pagingHeaders(
  url: URL,
  { offset, limit }: PageAsked,
  { total, hasMore }: Page,
): Record<string, string> {
  const count = total === undefined ? undefined : { 'x-total-count': String(total) }
  const isSingle = offset === 0 && !hasMore
  if (isSingle || limit < 1 || url.searchParams.get('sysparm_suppress_pagination_header') === 'true')
    return { ...count }
  const links: readonly (readonly [string, number])[] = [
    ['first', 0],
    ['prev', offset === 0 ? -1 : Math.max(0, offset - limit)],
    ...(hasMore ? [['next', offset + limit] as const] : []),
    ...(total === undefined ? [] : [['last', Math.floor(Math.max(0, total - 1) / limit) * limit] as const]),
  ]
  const link = links.map(([rel, to]) => `<${pageUrl(url, limit, to)}>;rel="${rel}"`).join(',')
  return { ...count, link }
}

function pageUrl(url: URL, limit: number, offset: number): string {
  const page = new URL(url)
  page.searchParams.delete('sysparm_offset')
  page.searchParams.set('sysparm_limit', String(limit))
  page.searchParams.set('sysparm_offset', String(offset))
  return page.href
}
