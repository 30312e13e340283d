/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-decoder.h"
#include "sb-image-private.h"
#include "sb-error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Decodes through whatever loaders gdk-pixbuf has installed, in a process of their own. */
typedef struct
{
  SbReader *reader;
  int socket;             /* ours of the pair; -1 once closed */
  int memory;             /* where the picture comes */
  pid_t child;            /* 0: none */
  gint64 left;            /* microseconds that may still be spent on waiting for it */
  GPollFD cancel;         /* fd -1 without a cancellable */
  SbDecoderAnswer answer; /* checked, once there is one */
#ifdef SB_FUZZ
  GThread *thread;
  int other, other_memory;
#endif
} Decoder;

/* What the file in memory may be counted on to be given: as much as any picture costs. */
#define BYTES_PER_PIXEL 30

/* --- the process ----------------------------------------------------------------------------- */

#ifdef SB_FUZZ

/* The fuzzer looks at what it runs, and runs it thousands of times. */
static gpointer
serve (gpointer data)
{
  Decoder *decoder = data;

  sb_decoder_serve (decoder->other, decoder->other_memory);
  close (decoder->other);
  return NULL;
}

static gboolean
start (Decoder *decoder, int theirs, GError **error)
{
  decoder->other = dup (theirs);
  decoder->other_memory = decoder->memory;
  decoder->thread = g_thread_new ("decoder", serve, decoder);
  return TRUE;
}

static void
end (Decoder *decoder)
{
  if (decoder->thread != NULL)
    g_thread_join (g_steal_pointer (&decoder->thread));
}

#else

static char *
find_program (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *built = g_build_filename (SB_BUILD_DIR, "src", "core", NULL);
  const gboolean in_build = self != NULL && g_str_has_prefix (self, SB_BUILD_DIR G_DIR_SEPARATOR_S);
  const char *const directories[] = { in_build ? built : SB_DECODER_DIR, SB_DECODER_DIR, built };

  for (guint i = 0; i < G_N_ELEMENTS (directories); i++)
    {
      char *path = g_build_filename (directories[i], SB_DECODER_PROGRAM, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return path;
      g_free (path);
    }
  return NULL;
}

/* posix_spawn() copies no page tables, however much memory the pictures take. */
static gboolean
start (Decoder *decoder, int theirs, GError **error)
{
  g_autofree char *program = find_program ();
  g_auto (GStrv) environment = g_environ_unsetenv (g_get_environ (), "G_DEBUG");
  char *const arguments[] = { (char *)SB_DECODER_PROGRAM, NULL };
  posix_spawn_file_actions_t actions;

  if (program == NULL)
    {
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("Could not open “%s”: the program %s, which reads this format, is missing. "
                      "Install Softbox again"),
                   decoder->reader->name, SB_DECODER_PROGRAM);
      return FALSE;
    }
  posix_spawn_file_actions_init (&actions);
  /* Neither end is 0 or 3 yet, or dup2() would leave it to be closed. */
  posix_spawn_file_actions_adddup2 (&actions, decoder->memory, SB_DECODER_MEMORY);
  posix_spawn_file_actions_adddup2 (&actions, theirs, SB_DECODER_SOCKET);
  posix_spawn_file_actions_addopen (&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
#if SB_DECODER_LIMITS_MEMORY /* else somebody wants to read it */
  posix_spawn_file_actions_addopen (&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
#endif
  const int failed = posix_spawn (&decoder->child, program, &actions, NULL, arguments, environment);
  posix_spawn_file_actions_destroy (&actions);
  if (failed == 0)
    return TRUE;
  decoder->child = 0;
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (failed), _ ("Could not open “%s”: %s"),
               decoder->reader->name, g_strerror (failed));
  return FALSE;
}

static void
end (Decoder *decoder)
{
  if (decoder->child == 0)
    return;
  kill (decoder->child, SIGKILL);
  while (waitpid (decoder->child, NULL, 0) < 0 && errno == EINTR)
    ;
  decoder->child = 0;
}

#endif

static void
set_io_error (Decoder *decoder, GError **error, int number)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (number), _ ("Could not open “%s”: %s"),
               decoder->reader->name, g_strerror (number));
}

/* A descriptor that is none of those that the child is given. */
static int
move_up (int fd)
{
  if (fd < 0 || fd > SB_DECODER_MEMORY)
    return fd;
  const int moved = fcntl (fd, F_DUPFD_CLOEXEC, SB_DECODER_MEMORY + 1);
  const int saved = errno;
  close (fd);
  errno = saved;
  return moved;
}

static gboolean
open_decoder (Decoder *decoder, GError **error)
{
  int pair[2];

  decoder->memory = move_up (memfd_create ("softbox-picture", MFD_CLOEXEC));
  if (decoder->memory < 0 || socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    {
      set_io_error (decoder, error, errno);
      return FALSE;
    }
  decoder->socket = pair[0];
  pair[1] = move_up (pair[1]);
  if (pair[1] < 0)
    {
      set_io_error (decoder, error, errno);
      return FALSE;
    }
  const gboolean started = start (decoder, pair[1], error);
  close (pair[1]);
  return started;
}

static void
close_decoder (Decoder *decoder)
{
  if (decoder->socket >= 0)
    close (decoder->socket);
  end (decoder);
  if (decoder->memory >= 0)
    close (decoder->memory);
  if (decoder->cancel.fd >= 0)
    g_cancellable_release_fd (decoder->reader->cancellable);
}

/* --- talking to it --------------------------------------------------------------------------- */

/* Until the socket is ready for `events`, or gone. FALSE with an error when that takes too long or
 * is cancelled. Only this waiting counts: files may come as slowly as they like. */
static gboolean
wait_for (Decoder *decoder, short events, GError **error)
{
  SbReader *reader = decoder->reader;
  struct pollfd fds[2] = { { decoder->socket, events, 0 }, { decoder->cancel.fd, POLLIN, 0 } };

  while (!g_cancellable_set_error_if_cancelled (reader->cancellable, &reader->error))
    {
      const gint64 begun = g_get_monotonic_time ();
      const int ready = poll (fds, 2, (int)MAX ((decoder->left + 999) / 1000, 0));
      decoder->left -= g_get_monotonic_time () - begun;
      if (ready > 0 && fds[0].revents != 0)
        return TRUE;
      if (ready < 0 && errno != EINTR)
        {
          set_io_error (decoder, error, errno);
          return FALSE;
        }
      if (ready == 0 && decoder->left <= 0)
        {
          g_autofree char *reason = g_strdup_printf (
              _ ("decoding it takes longer than %.3g seconds"), reader->decode_ms / 1000.0);
          sb_reader_set_error (reader, error, reason);
          return FALSE;
        }
    }
  return FALSE;
}

/* What it does not take, because it has heard enough or has died, is dropped: the answer tells. */
static gboolean
send_all (Decoder *decoder, const void *from, gsize n, gboolean *taken, GError **error)
{
  gsize done = 0;

  *taken = TRUE;
  while (done < n)
    {
      if (!wait_for (decoder, POLLOUT, error))
        return FALSE;
      const gssize some = send (decoder->socket, (const guint8 *)from + done, n - done,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
      if (some >= 0)
        done += (gsize)some;
      else if (errno != EINTR && errno != EAGAIN)
        {
          *taken = FALSE;
          return TRUE;
        }
    }
  return TRUE;
}

/* The loader of BMP asks for as much memory as the file's header claims to take, before any of it
 * has come. Real ones have 124 bytes, and their pixels begin soon after. */
#define BMP_MAX_HEADER 65536
#define BMP_MAX_OFFSET (16u << 20)

static gboolean
is_excessive_bmp (const guint8 *data, gsize n)
{
  guint32 offset, header;

  if (n < 18 || data[0] != 'B' || data[1] != 'M')
    return FALSE;
  memcpy (&offset, data + 10, sizeof offset);
  memcpy (&header, data + 14, sizeof header);
  return GUINT32_FROM_LE (header) > BMP_MAX_HEADER || GUINT32_FROM_LE (offset) > BMP_MAX_OFFSET;
}

static gboolean
send_file (Decoder *decoder, GError **error)
{
  SbReader *reader = decoder->reader;
  const SbDecoderAsk ask = {
    .magic = SB_DECODER_MAGIC,
    .max_side = SB_IMAGE_MAX_SIDE,
    .max_pixels = reader->limit_bytes / BYTES_PER_PIXEL,
    .max_bytes = reader->limit_bytes,
    .max_memory = reader->limit_bytes,
  };
  gboolean taken = TRUE, first = TRUE;

  if (!send_all (decoder, &ask, sizeof ask, &taken, error))
    return FALSE;
  while (taken && sb_reader_fill (reader))
    {
      const guint8 *data = reader->window + reader->start;
      const gsize n = reader->end - reader->start;
      reader->start = reader->end;
      if (first && is_excessive_bmp (data, n))
        {
          sb_reader_set_error (reader, error, _ ("the file is damaged"));
          return FALSE;
        }
      first = FALSE;
      if (!send_all (decoder, data, n, &taken, error))
        return FALSE;
    }
  if (reader->error != NULL)
    return FALSE;
  shutdown (decoder->socket, SHUT_WR);
  return TRUE;
}

/* The answer, and nothing in it that is not so. */
static gboolean
receive_answer (Decoder *decoder, GError **error)
{
  SbDecoderAnswer *answer = &decoder->answer;
  const guint64 most = decoder->reader->limit_bytes / BYTES_PER_PIXEL;
  gsize done = 0;

  while (done < sizeof *answer)
    {
      if (!wait_for (decoder, POLLIN, error))
        return FALSE;
      const gssize some
          = recv (decoder->socket, (guint8 *)answer + done, sizeof *answer - done, MSG_DONTWAIT);
      if (some > 0)
        done += (gsize)some;
      else if (some == 0 || (errno != EINTR && errno != EAGAIN))
        {
          sb_reader_set_error (
              decoder->reader, error,
              _ ("its loader failed: the file is damaged or needs more memory than "
                 "it may have"));
          return FALSE;
        }
    }
  answer->format[sizeof answer->format - 1] = '\0';
  answer->message[sizeof answer->message - 1] = '\0';
  if (answer->magic == SB_DECODER_MAGIC && answer->profile_bytes <= SB_DECODER_MAX_PROFILE
      && (answer->status != SB_DECODER_PICTURE
          || (answer->width >= 1 && answer->width <= SB_IMAGE_MAX_SIDE && answer->height >= 1
              && answer->height <= SB_IMAGE_MAX_SIDE && answer->width * answer->height <= most)))
    return TRUE;
  sb_reader_set_error (decoder->reader, error, _ ("its loader failed"));
  return FALSE;
}

/* --- the picture ----------------------------------------------------------------------------- */

static gboolean
read_all (int fd, guint8 *to, gsize n, gsize at)
{
  gsize done = 0;

  while (done < n)
    {
      const gssize some = pread (fd, to + done, n - done, (off_t)(at + done));
      if (some == 0 || (some < 0 && errno != EINTR))
        return FALSE;
      done += some > 0 ? (gsize)some : 0;
    }
  return TRUE;
}

static SbImage *
take_picture (Decoder *decoder, const SbAside *aside, GError **error)
{
  const SbDecoderAnswer *answer = &decoder->answer;
  const gsize profile_bytes = (gsize)answer->profile_bytes;
  g_autoptr (SbImage) image = sb_image_new ((guint)answer->width, (guint)answer->height, 8, error);

  if (image == NULL)
    return NULL;
  const gsize n = sb_image_get_bytes (image);
  g_autofree guint8 *data = profile_bytes > 0 ? g_malloc (profile_bytes) : NULL;
  if (!read_all (decoder->memory, sb_image_writable (image), n, 0)
      || !read_all (decoder->memory, data, profile_bytes, n))
    {
      sb_reader_set_error (decoder->reader, error, _ ("its loader failed"));
      return NULL;
    }

  g_autoptr (GBytes) profile
      = data != NULL ? g_bytes_new_take (g_steal_pointer (&data), profile_bytes) : NULL;
  if (profile != NULL)
    sb_image_take_profile (image, profile, TRUE);
  else if (aside != NULL && aside->profile != NULL)
    sb_image_take_profile (image, aside->profile, TRUE);
  g_autoptr (SbMetadata) metadata = aside != NULL && aside->metadata != NULL
                                        ? sb_metadata_ref (aside->metadata)
                                        : sb_metadata_new ();
  if (metadata->format == NULL && answer->format[0] != '\0')
    {
      g_autofree char *upper = g_ascii_strup (answer->format, -1);
      g_autofree char *name = g_utf8_make_valid (upper, -1);
      metadata->format = g_intern_string (name);
    }
  sb_image_set_metadata (image, metadata);
  if (!answer->whole)
    sb_image_add_warning (image, _ ("The file is incomplete or damaged: a part of the picture may "
                                    "be missing."));
  if (answer->animated)
    sb_image_add_warning (image, _ ("The file is an animation: only its first picture is shown."));
  return sb_image_orient (g_steal_pointer (&image),
                          answer->orientation != 0 ? answer->orientation
                          : aside != NULL          ? aside->orientation
                                                   : 1,
                          error);
}

static void
set_error (Decoder *decoder, GError **error)
{
  const SbDecoderAnswer *answer = &decoder->answer;
  SbReader *reader = decoder->reader;

  switch (answer->status)
    {
    case SB_DECODER_TOO_MANY_PIXELS:
      if (sb_reader_check_size (reader, answer->width, answer->height, error))
        sb_reader_set_error (reader, error, _ ("its loader failed"));
      break;
    case SB_DECODER_TOO_LONG:
      sb_reader_set_error (reader, error, _ ("the file is too large"));
      break;
    case SB_DECODER_UNKNOWN:
      g_set_error (error, SB_ERROR, SB_ERROR_UNAVAILABLE,
                   _ ("Could not open “%s”: it is not a picture of a known format"), reader->name);
      break;
    case SB_DECODER_NO_MEMORY:
      sb_reader_set_error (reader, error, _ ("it needs more memory than it may have"));
      break;
    default:
      {
        g_autofree char *message = g_utf8_make_valid (answer->message, -1);
        sb_reader_set_error (reader, error,
                             message[0] != '\0' ? message : _ ("the file is damaged"));
      }
    }
}

SbImage *
sb_image_load_pixbuf (SbReader *reader, const SbAside *aside, GError **error)
{
  Decoder decoder = { .reader = reader,
                      .socket = -1,
                      .memory = -1,
                      .left = (gint64)reader->decode_ms * 1000,
                      .cancel.fd = -1 };
  SbImage *image = NULL;

  if (!g_cancellable_make_pollfd (reader->cancellable, &decoder.cancel))
    decoder.cancel.fd = -1;
  if (open_decoder (&decoder, error) && send_file (&decoder, error)
      && receive_answer (&decoder, error))
    {
      if (decoder.answer.status == SB_DECODER_PICTURE)
        image = take_picture (&decoder, aside, error);
      else
        set_error (&decoder, error);
    }
  else
    sb_reader_take_error (reader, error);
  close_decoder (&decoder);
  return image;
}
