/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-decoder.h"

#include <errno.h>
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* What a loader may take besides its picture, and for each pixel of it. */
#define ALLOWANCE       ((guint64)512 << 20)
#define BYTES_PER_PIXEL 24

/* What a loader is given at once. That of GIF draws the whole picture anew at each call and moves
 * what it was given along at each of its blocks: less or more than this makes minutes of seconds.
 */
#define PORTION ((gsize)1 << 20)

typedef struct
{
  SbDecoderAsk ask;
  SbDecoderAnswer answer;
  GdkPixbufLoader *loader;
  gboolean stopped; /* answer.status tells why */
  int rows_seen;    /* rows from the top that the loader said it has filled */
} Decode;

/* Up to n bytes: fewer at the end. */
static gsize
receive (int from, void *to, gsize n)
{
  gsize done = 0;

  while (done < n)
    {
      const gssize some = recv (from, (guint8 *)to + done, n - done, 0);
      if (some == 0 || (some < 0 && errno != EINTR))
        break;
      done += some > 0 ? (gsize)some : 0;
    }
  return done;
}

static gboolean
send_all (int to, const void *from, gsize n)
{
  gsize done = 0;

  while (done < n)
    {
      const gssize some = send (to, (const guint8 *)from + done, n - done, MSG_NOSIGNAL);
      if (some < 0 && errno != EINTR)
        return FALSE;
      done += some > 0 ? (gsize)some : 0;
    }
  return TRUE;
}

/* Memory that the process writes to and shares with nobody; the file in memory is not of it. Past
 * the limit allocations fail, and most loaders end then. */
static void
allow_memory (const Decode *decode, guint64 pixels)
{
  const guint64 wanted = ALLOWANCE + pixels * BYTES_PER_PIXEL;
  const guint64 most = MAX (decode->ask.max_memory, ALLOWANCE);
  const struct rlimit limit = { MIN (wanted, most), most };

  if (SB_DECODER_LIMITS_MEMORY)
    setrlimit (RLIMIT_DATA, &limit);
}

static void
stop (Decode *decode, SbDecoderStatus status)
{
  if (!decode->stopped)
    decode->answer.status = status;
  decode->stopped = TRUE;
}

/* The header is read, nothing decoded. 0 × 0 makes a loader stop, which is how gdk-pixbuf itself
 * looks at a file's size only. */
static void
on_size (GdkPixbufLoader *loader, int width, int height, gpointer user_data)
{
  Decode *decode = user_data;
  const guint64 w = (guint64)MAX (width, 0), h = (guint64)MAX (height, 0);

  if (decode->stopped)
    return;
  if (w < 1 || h < 1 || w > decode->ask.max_side || h > decode->ask.max_side
      || w * h > decode->ask.max_pixels)
    {
      decode->answer.width = w;
      decode->answer.height = h;
      stop (decode, SB_DECODER_TOO_MANY_PIXELS);
      gdk_pixbuf_loader_set_size (loader, 0, 0);
    }
  else
    allow_memory (decode, w * h);
}

static void
on_area (GdkPixbufLoader *loader, int x, int y, int width, int height, gpointer user_data)
{
  Decode *decode = user_data;

  decode->rows_seen = MAX (decode->rows_seen, y + height);
}

/* The whole file through the loader. FALSE with the loader's error, if it gave one, or when it was
 * stopped. */
static gboolean
feed (Decode *decode, int socket, GError **error)
{
  enum
  {
    HEADER = 4096 /* looked at as soon as it is there */
  };
  g_autofree guint8 *window = g_malloc (PORTION);
  guint64 fed = 0;

  while (!decode->stopped)
    {
      const gsize n = receive (socket, window, fed == 0 ? HEADER : PORTION);
      if (n == 0)
        break;
      fed += n;
      /* Some loaders gather all that they are given before they look at it. */
      if (fed > decode->ask.max_bytes)
        stop (decode, SB_DECODER_TOO_LONG);
      else if (!gdk_pixbuf_loader_write (decode->loader, window, n, error))
        {
          gdk_pixbuf_loader_close (decode->loader, NULL);
          return FALSE;
        }
    }
  if (decode->stopped)
    {
      gdk_pixbuf_loader_close (decode->loader, NULL);
      return FALSE;
    }
  return gdk_pixbuf_loader_close (decode->loader, error);
}

/* Opaque and straight-alpha rows to RGBA. The last row has no padding: never look past it. */
static void
copy_pixels (GdkPixbuf *pixbuf, guint8 *to)
{
  const gsize width = (gsize)gdk_pixbuf_get_width (pixbuf);
  const gsize height = (gsize)gdk_pixbuf_get_height (pixbuf);
  const gsize from_stride = (gsize)gdk_pixbuf_get_rowstride (pixbuf);
  const guint channels = (guint)gdk_pixbuf_get_n_channels (pixbuf);
  const guint8 *from = gdk_pixbuf_read_pixels (pixbuf);

  for (gsize y = 0; y < height; y++)
    {
      const guint8 *source = from + y * from_stride;
      guint8 *target = to + y * width * 4;
      if (channels == 4)
        memcpy (target, source, width * 4);
      else
        for (gsize x = 0; x < width; x++, source += 3, target += 4)
          {
            target[0] = source[0];
            target[1] = source[1];
            target[2] = source[2];
            target[3] = 0xff;
          }
    }
}

/* Into the file in memory. */
static gboolean
put_picture (GdkPixbuf *pixbuf, const guint8 *profile, gsize profile_bytes, int memory)
{
  const gsize pixels
      = (gsize)gdk_pixbuf_get_width (pixbuf) * (gsize)gdk_pixbuf_get_height (pixbuf) * 4;
  const gsize n = pixels + profile_bytes;

  if (ftruncate (memory, (off_t)n) != 0)
    return FALSE;
  guint8 *to = mmap (NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (to == MAP_FAILED)
    return FALSE;
  copy_pixels (pixbuf, to);
  if (profile_bytes > 0)
    memcpy (to + pixels, profile, profile_bytes);
  munmap (to, n);
  return TRUE;
}

static void
take (Decode *decode, GdkPixbuf *pixbuf, gboolean whole, gboolean animated, int memory)
{
  SbDecoderAnswer *answer = &decode->answer;
  const char *orientation = gdk_pixbuf_get_option (pixbuf, "orientation");
  const char *text = gdk_pixbuf_get_option (pixbuf, "icc-profile");
  GdkPixbufFormat *format = gdk_pixbuf_loader_get_format (decode->loader);
  gsize profile_bytes = 0;
  g_autofree guint8 *profile = text != NULL ? g_base64_decode (text, &profile_bytes) : NULL;
  const guint64 pixels
      = (guint64)gdk_pixbuf_get_width (pixbuf) * (guint64)gdk_pixbuf_get_height (pixbuf);

  answer->width = (guint64)gdk_pixbuf_get_width (pixbuf);
  answer->height = (guint64)gdk_pixbuf_get_height (pixbuf);
  answer->whole = whole;
  answer->animated = animated;
  answer->profile_bytes = MIN ((guint64)profile_bytes, SB_DECODER_MAX_PROFILE);
  if (orientation != NULL)
    {
      const guint64 value = g_ascii_strtoull (orientation, NULL, 10);
      answer->orientation = value >= 1 && value <= 8 ? (guint32)value : 1;
    }
  if (format != NULL)
    {
      g_autofree char *name = gdk_pixbuf_format_get_name (format);
      g_strlcpy (answer->format, name, sizeof answer->format);
    }
  /* A loader need not give the size that it told of. */
  if (pixels > decode->ask.max_pixels)
    stop (decode, SB_DECODER_TOO_MANY_PIXELS);
  else if (!put_picture (pixbuf, profile, (gsize)answer->profile_bytes, memory))
    stop (decode, SB_DECODER_NO_MEMORY);
  else
    stop (decode, SB_DECODER_PICTURE);
}

/* A loader may fail without saying why, and may give a picture that it never filled; those of
 * animations need not tell of rows. */
static void
decode_file (Decode *decode, int socket, int memory)
{
  g_autoptr (GError) failure = NULL;
  const gboolean closed = feed (decode, socket, &failure);

  if (decode->stopped)
    return;
  GdkPixbuf *pixbuf = gdk_pixbuf_loader_get_pixbuf (decode->loader);
  GdkPixbufAnimation *animation = gdk_pixbuf_loader_get_animation (decode->loader);
  const gboolean animated = animation != NULL && !gdk_pixbuf_animation_is_static_image (animation);
  if (pixbuf != NULL && (decode->rows_seen > 0 || (animated && closed)))
    {
      const gboolean whole
          = closed && (animated || decode->rows_seen >= gdk_pixbuf_get_height (pixbuf));
      take (decode, pixbuf, whole, animated, memory);
      return;
    }
  stop (decode, g_error_matches (failure, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_UNKNOWN_TYPE)
                    ? SB_DECODER_UNKNOWN
                : g_error_matches (failure, GDK_PIXBUF_ERROR, GDK_PIXBUF_ERROR_INSUFFICIENT_MEMORY)
                    ? SB_DECODER_NO_MEMORY
                    : SB_DECODER_DAMAGED);
  if (failure != NULL)
    g_strlcpy (decode->answer.message, failure->message, sizeof decode->answer.message);
}

gboolean
sb_decoder_serve (int socket, int memory)
{
  Decode decode = { .answer = { .magic = SB_DECODER_MAGIC } };

  if (receive (socket, &decode.ask, sizeof decode.ask) < sizeof decode.ask
      || decode.ask.magic != SB_DECODER_MAGIC)
    return FALSE;
  allow_memory (&decode, 0);
  decode.loader = gdk_pixbuf_loader_new ();
  g_signal_connect (decode.loader, "size-prepared", G_CALLBACK (on_size), &decode);
  g_signal_connect (decode.loader, "area-updated", G_CALLBACK (on_area), &decode);
  decode_file (&decode, socket, memory);
  g_object_unref (decode.loader);
  return send_all (socket, &decode.answer, sizeof decode.answer);
}
