/* SPDX-License-Identifier: MIT */

#include "config.h"

#include "sb-image-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cancelling is noticed, and other writers get their turn, after so much. */
#define CHUNK ((gsize)1 << 20)

/* A file that is written without a name, so that nothing is left of it if the program is killed,
 * and then put into its folder under a passing name; where the file system has no such files, it
 * has that name from the start. Names are relative to the open folder, so a folder that is moved
 * meanwhile takes the work along, and paths of any length do. */
typedef struct
{
  const char *name; /* for people */
  int folder;       /* -1 until open */
  char *target;     /* name in the folder, never of a link */
  char passing[32]; /* empty while there is none */
  gboolean replaces;
  struct stat old; /* of what is replaced */
} Place;

static void
set_errno_error (GError **error, const char *name, int number)
{
  /* "File exists" sounds as if that were as it should be. */
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (number), _ ("Could not write “%s”: %s"),
               name,
               number == EEXIST ? _ ("a file of that name is there already") : g_strerror (number));
}

/* --- where it goes --------------------------------------------------------------------------- */

/* The path that links lead to, whether something is there or not. */
static char *
follow_links (const char *path, GError **error, const char *name)
{
  enum
  {
    MOST = 40 /* as the kernel has it */
  };
  g_autofree char *at = g_strdup (path);

  for (guint i = 0; i < MOST; i++)
    {
      struct stat status;
      if (lstat (at, &status) != 0 || !S_ISLNK (status.st_mode))
        return g_steal_pointer (&at);
      g_autofree char *link = g_file_read_link (at, NULL);
      if (link == NULL)
        {
          set_errno_error (error, name, errno);
          return NULL;
        }
      g_autofree char *folder = g_path_get_dirname (at);
      g_free (at);
      at = g_path_is_absolute (link) ? g_steal_pointer (&link)
                                     : g_build_filename (folder, link, NULL);
    }
  set_errno_error (error, name, ELOOP);
  return NULL;
}

static void
place_clear (Place *place)
{
  if (place->passing[0] != '\0')
    unlinkat (place->folder, place->passing, 0);
  if (place->folder >= 0)
    close (place->folder);
  g_free (place->target);
}

/* Opens the folder and looks at what is there. A file that nobody may write to is not replaced,
 * though its folder would allow it: its owner said so. */
static gboolean
place_find (Place *place, const char *path, gboolean overwrite, GError **error)
{
  struct stat status;

  if (!overwrite && lstat (path, &status) == 0)
    {
      set_errno_error (error, place->name, EEXIST);
      return FALSE;
    }

  g_autofree char *real = follow_links (path, error, place->name);
  if (real == NULL)
    return FALSE;
  g_autofree char *folder = g_path_get_dirname (real);
  place->target = g_path_get_basename (real);
  place->folder = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (place->folder < 0 && errno == ENOENT)
    {
      g_autofree char *shown = g_filename_display_name (folder);

      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                   _ ("Could not write “%s”: there is no folder “%s”"), place->name, shown);
      return FALSE;
    }
  if (place->folder < 0)
    {
      set_errno_error (error, place->name, errno);
      return FALSE;
    }

  place->replaces = fstatat (place->folder, place->target, &place->old, AT_SYMLINK_NOFOLLOW) == 0;
  if (!place->replaces)
    return TRUE;
  if (S_ISDIR (place->old.st_mode))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY,
                 _ ("Could not write “%s”: it is a folder"), place->name);
  else if (!S_ISREG (place->old.st_mode))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                 _ ("Could not write “%s”: it is not a regular file"), place->name);
  else if ((place->old.st_mode & 0222) == 0
           || faccessat (place->folder, place->target, W_OK, AT_EACCESS) != 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
                 _ ("Could not write “%s”: the file is read-only"), place->name);
  else
    return TRUE;
  return FALSE;
}

/* --- writing --------------------------------------------------------------------------------- */

/* A short name whatever the target's is, and hidden. */
static void
place_draw_name (Place *place)
{
  g_snprintf (place->passing, sizeof place->passing, ".softbox-%08x.tmp", g_random_int ());
}

/* A replaced file's contents may be private: nobody else may read the passing one. */
static mode_t
place_mode (const Place *place)
{
  return place->replaces ? 0600 : 0666;
}

/* How an open file without a name is spoken of. */
static void
describe_unnamed (int fd, char path[32])
{
  g_snprintf (path, 32, "/proc/self/fd/%d", fd);
}

/* An open file without a name, or -1 where there are none or they could not be given one. */
static int
place_open_unnamed (const Place *place)
{
  const int fd = openat (place->folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, place_mode (place));
  char path[32];

  if (fd < 0)
    return -1;
  describe_unnamed (fd, path);
  if (access (path, F_OK) == 0)
    return fd;
  close (fd);
  return -1;
}

/* An open passing file. */
static int
place_open (Place *place)
{
  for (guint i = 0; i < 100; i++)
    {
      place_draw_name (place);
      const int fd
          = openat (place->folder, place->passing,
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, place_mode (place));
      if (fd >= 0)
        return fd;
      if (errno != EEXIST)
        break;
    }
  place->passing[0] = '\0';
  return -1;
}

/* Makes a passing file of one without a name. 0 or an errno. */
static int
place_link (Place *place, int fd)
{
  char path[32];
  int failed = 0;

  describe_unnamed (fd, path);
  for (guint i = 0; i < 100; i++)
    {
      place_draw_name (place);
      if (linkat (AT_FDCWD, path, place->folder, place->passing, AT_SYMLINK_FOLLOW) == 0)
        return 0;
      failed = errno;
      if (failed != EEXIST)
        break;
    }
  place->passing[0] = '\0';
  return failed;
}

/* 0 or an errno; ECANCELED when cancelled. */
static int
write_all (int fd, const guint8 *data, gsize n, GCancellable *cancellable)
{
  gsize done = 0;

  while (done < n)
    {
      if (g_cancellable_is_cancelled (cancellable))
        return ECANCELED;
      const gssize some = write (fd, data + done, MIN (n - done, CHUNK));
      if (some > 0)
        done += (gsize)some;
      else if (some == 0)
        return EIO;
      else if (errno != EINTR)
        return errno;
    }
  return 0;
}

/* Past RLIMIT_FSIZE the kernel sends a signal that ends the program before write() can fail. It is
 * held back in this thread only, and taken away if it came. */
static int
write_held (int fd, const guint8 *data, gsize n, GCancellable *cancellable)
{
  const struct timespec now = { 0, 0 };
  sigset_t limit, before, pending;

  sigemptyset (&limit);
  sigaddset (&limit, SIGXFSZ);
  sigpending (&pending);
  const gboolean was_pending = sigismember (&pending, SIGXFSZ) == 1;
  if (pthread_sigmask (SIG_BLOCK, &limit, &before) != 0)
    return write_all (fd, data, n, cancellable);
  const int result = write_all (fd, data, n, cancellable);
  if (result == EFBIG && !was_pending)
    while (sigtimedwait (&limit, NULL, &now) < 0 && errno == EINTR)
      ;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return result;
}

/* Owner and mode of the replaced file. Where the group cannot be kept, the new group may do what
 * everybody may. */
static int
keep_mode (const Place *place, int fd)
{
  struct stat status;
  mode_t mode = place->old.st_mode & 07777;

  if (fstat (fd, &status) != 0)
    return errno;
  if (status.st_uid != place->old.st_uid && fchown (fd, place->old.st_uid, (gid_t)-1) != 0)
    mode &= (mode_t)~S_ISUID;
  if (status.st_gid != place->old.st_gid && fchown (fd, (uid_t)-1, place->old.st_gid) != 0)
    mode = (mode & (mode_t) ~(S_ISGID | S_IRWXG)) | (mode & S_IRWXO) << 3;
  return fchmod (fd, mode) == 0 ? 0 : errno;
}

/* Gives the passing file its name, never over an existing file. A rename that refuses to replace is
 * not known to every file system, nor is a second link; all know exclusive creation. */
static int
take_free_name (Place *place)
{
  if (renameat2 (place->folder, place->passing, place->folder, place->target, RENAME_NOREPLACE)
      == 0)
    {
      place->passing[0] = '\0';
      return 0;
    }
  if (errno != EINVAL && errno != ENOSYS)
    return errno;

  if (linkat (place->folder, place->passing, place->folder, place->target, 0) == 0)
    return 0; /* the passing name goes with the place */
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
    return errno;

  const int claim = openat (place->folder, place->target,
                            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (claim < 0)
    return errno;
  close (claim);
  if (renameat (place->folder, place->passing, place->folder, place->target) != 0)
    {
      const int saved = errno;
      unlinkat (place->folder, place->target, 0);
      return saved;
    }
  place->passing[0] = '\0';
  return 0;
}

static int
take_name (Place *place, gboolean overwrite)
{
  if (!overwrite)
    return take_free_name (place);
  if (renameat (place->folder, place->passing, place->folder, place->target) != 0)
    return errno;
  place->passing[0] = '\0';
  return 0;
}

/* Everything but the name. 0 or an errno, ECANCELED when cancelled. */
static int
fill (const Place *place, int fd, GBytes *png, GCancellable *cancellable)
{
  gsize n = 0;
  const guint8 *data = g_bytes_get_data (png, &n);
  int failed = write_held (fd, data, n, cancellable);

  if (failed == 0 && place->replaces)
    failed = keep_mode (place, fd);
  if (failed == 0 && fsync (fd) != 0 && errno != EINVAL && errno != EROFS)
    failed = errno;
  return failed;
}

/* Leaves a passing file. 0 or an errno, ECANCELED when cancelled. */
static int
write_passing (Place *place, GBytes *png, GCancellable *cancellable)
{
  int fd = place_open_unnamed (place);
  int failed = 0;

  if (fd >= 0)
    {
      failed = fill (place, fd, png, cancellable);
      if (failed == 0 && place_link (place, fd) != 0)
        {
          /* Not every file system that has files without a name can link them. */
          close (fd);
          fd = -1;
        }
    }
  if (fd < 0)
    {
      fd = place_open (place);
      if (fd < 0)
        return errno;
      failed = fill (place, fd, png, cancellable);
    }
  /* Some network file systems tell of a full disk only here. */
  if (close (fd) != 0 && failed == 0 && errno != EINTR)
    failed = errno;
  return failed;
}

static gboolean
save_local (const char *path, const char *name, GBytes *png, gboolean overwrite,
            GCancellable *cancellable, GError **error)
{
  Place place = { .name = name, .folder = -1 };

  if (!place_find (&place, path, overwrite, error))
    {
      place_clear (&place);
      return FALSE;
    }

  int failed = write_passing (&place, png, cancellable);
  if (failed == 0 && g_cancellable_is_cancelled (cancellable))
    failed = ECANCELED;
  if (failed == 0)
    failed = take_name (&place, overwrite);
  if (failed == 0)
    fsync (place.folder); /* the name is there; whether it survives a power cut is up to the disk */

  if (failed == ECANCELED)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _ ("The export was cancelled"));
  else if (failed != 0)
    set_errno_error (error, name, failed);
  place_clear (&place);
  return failed == 0;
}

/* --- elsewhere ------------------------------------------------------------------------------- */

static gboolean
save_remote (GFile *file, const char *name, GBytes *png, gboolean overwrite,
             GCancellable *cancellable, GError **error)
{
  g_autoptr (GFileOutputStream) stream
      = overwrite ? g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, cancellable, error)
                  : g_file_create (file, G_FILE_CREATE_NONE, cancellable, error);
  gsize n = 0;
  const guint8 *data = g_bytes_get_data (png, &n);

  if (stream == NULL)
    {
      g_prefix_error (error, _ ("Could not write “%s”: "), name);
      return FALSE;
    }
  if (g_output_stream_write_all (G_OUTPUT_STREAM (stream), data, n, NULL, cancellable, error)
      && g_output_stream_close (G_OUTPUT_STREAM (stream), cancellable, error))
    return TRUE;

  /* Closing puts the half-written file in place of the old one, unless it is cancelled. */
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_cancellable_cancel (cancelled);
  g_output_stream_close (G_OUTPUT_STREAM (stream), cancelled, NULL);
  if (!overwrite)
    g_file_delete (file, NULL, NULL); /* it was made above, by nobody else */
  g_prefix_error (error, _ ("Could not write “%s”: "), name);
  return FALSE;
}

/* Whether saving can only fail, before time is spent on packing the picture. */
static gboolean
check_place (const char *path, const char *name, gboolean overwrite, GError **error)
{
  Place place = { .name = name, .folder = -1 };
  const gboolean good = place_find (&place, path, overwrite, error);

  place_clear (&place);
  return good;
}

gboolean
sb_save_bytes (GBytes *bytes, GFile *file, gboolean overwrite, GCancellable *cancellable,
               GError **error)
{
  g_return_val_if_fail (bytes != NULL, FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  g_autofree char *name = sb_file_display_name (file);
  const char *path = g_file_peek_path (file);

  return path != NULL ? save_local (path, name, bytes, overwrite, cancellable, error)
                      : save_remote (file, name, bytes, overwrite, cancellable, error);
}

gboolean
sb_image_save_png (SbImage *image, GFile *file, const SbSaveOptions *options,
                   SbProgressFunc progress, gpointer user_data, GCancellable *cancellable,
                   GError **error)
{
  g_return_val_if_fail (image != NULL, FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);
  g_return_val_if_fail (options != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  g_autofree char *name = sb_file_display_name (file);
  const char *path = g_file_peek_path (file);
  if (path != NULL && !check_place (path, name, options->overwrite, error))
    return FALSE;

  g_autoptr (GBytes) png
      = sb_image_encode_png (image, options, progress, user_data, cancellable, error);
  if (png == NULL)
    {
      g_prefix_error (error, _ ("Could not write “%s”: "), name);
      return FALSE;
    }
  return sb_save_bytes (png, file, options->overwrite, cancellable, error);
}
