/** The URLs in a list with commas between them. A password may hold a comma itself: the next URL begins with its scheme. */
export function nodeUrls(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(/,(?=\s*[a-z][a-z0-9+.-]*:\/\/)/i)
    .map(url => url.trim())
    .filter(url => url !== '')
}
