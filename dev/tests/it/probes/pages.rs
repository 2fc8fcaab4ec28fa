//! Reads status pages of nginx, php-fpm, Apache and Tomcat.

use super::{ProbeObserver, port};
use crate::world::server::ServerProcess;
use crate::world::skip::{program, skip};
use crate::world::{Nginx, nginx, port as ports, wait_a_moment, wait_until};
use brunt_model::Probed;
use brunt_model::reading_names::{self as name, server};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const CHILDREN: usize = 3;

#[test]
fn busy_children_of_php_fpm_are_read() {
    let Some(site) = php("busy_children_of_php_fpm_are_read") else { return };
    let status = |path: &str| site.nginx.url_of(path);
    let mut watched = ProbeObserver::start(&[
        ("www", Probed::PhpFpm { url: status("/fpm-status") }),
        ("front", Probed::Nginx { url: status("/stub"), connections: Some(2000) }),
        ("nginx", port(site.nginx.port)),
        ("fpm", port(site.fpm_port)),
    ]);
    watched.wait_until("an idle pool", |w| {
        w.readings_of("php-fpm:www").iter().any(|r| r[server::WORKERS_BUSY] == 0.0)
    });
    let _asked: Vec<TcpStream> =
        (0..CHILDREN + 4).map(|_| ask(site.nginx.port, "/sleep.php")).collect();
    watched.wait_until("a busy pool", |w| {
        w.readings_of("php-fpm:www")
            .iter()
            .any(|r| r[server::WORKERS_BUSY] == CHILDREN as f64 && r[server::QUEUE] > 0.0)
    });
    let last = watched.readings_of("php-fpm:www").pop().expect("a reading");
    assert_eq!(
        (last[server::WORKERS_LIMIT], last[server::WORKERS]),
        (CHILDREN as f64, CHILDREN as f64)
    );
    assert!(last[server::QUEUE_LIMIT] >= 4.0, "{last:?}");
    let front = watched.readings_of("nginx:front").pop().expect("a reading");
    assert!(
        front[server::CONNECTIONS] > CHILDREN as f64 && front[server::CONNECTIONS_LIMIT] == 2000.0,
        "{front:?}"
    );
    let fpm = watched.readings_of("process:fpm").pop().expect("a reading");
    // The master, its children, and those for the status page: started on demand, two at most.
    let processes = CHILDREN + 2..=CHILDREN + 3;
    assert!(
        processes.contains(&(fpm[server::PROCESSES] as usize)),
        "{processes:?} processes expected: {fpm:?}"
    );
    let nginx = watched.readings_of("process:nginx").pop().expect("a reading");
    for key in [name::RESIDENT, name::DESCRIPTORS, server::ACCEPT_QUEUE_LIMIT] {
        assert!(nginx.contains_key(key), "{key}: {nginx:?}");
    }
    assert_eq!(watched.warnings(), Vec::<&str>::new());
}

#[test]
fn a_stopped_server_is_reported_once() {
    let Some(mut nginx) = nginx("a_stopped_server_is_reported_once", "") else { return };
    let mut watched = ProbeObserver::start(&[
        ("front", Probed::Nginx { url: nginx.url_of("/stub"), connections: None }),
        ("wrong", Probed::Apache { url: nginx.url_of("/index.html") }),
        ("none", Probed::Nginx { url: nginx.url_of("/none"), connections: None }),
    ]);
    watched.wait_until("a reading", |w| {
        !w.readings_of("nginx:front").is_empty() && w.warnings().len() >= 2
    });
    nginx.server.stop();
    watched.wait_until("a warning", |w| {
        w.warnings().iter().any(|t| t.starts_with("probe nginx:front: "))
    });
    let warnings = watched.warnings();
    assert!(warnings.iter().any(|t| t.contains("is not Apache's status page")), "{warnings:?}");
    assert!(warnings.iter().any(|t| t.contains("answers 404: no such page")), "{warnings:?}");
    assert_eq!(warnings.len(), 3, "each once: {warnings:?}");
}

#[test]
fn workers_of_apache_are_read() {
    let test = "workers_of_apache_are_read";
    let Some(program) = program("apache2") else { return skip(test, "no apache2 here") };
    let dir = TempDir::new().expect("a directory");
    let port = ports::free();
    fs::write(dir.path().join("conf"), apache_config(dir.path(), port)).expect("a configuration");
    let mut command = Command::new(program);
    command.arg("-f").arg(dir.path().join("conf")).arg("-DFOREGROUND").arg("-d").arg(dir.path());
    let _server = ServerProcess::start(command.stdin(Stdio::null()).stderr(Stdio::null()));
    wait_until("Apache", || ports::has_listener(port));
    let mut watched = ProbeObserver::start(&[(
        "web",
        Probed::Apache { url: format!("http://127.0.0.1:{port}/status") },
    )]);
    watched.wait_until("a reading", |w| !w.readings_of("apache:web").is_empty());
    let read = &watched.readings_of("apache:web")[0];
    assert_eq!(read[server::WORKERS_LIMIT], 8.0, "{read:?}");
    assert!(
        read[server::WORKERS_BUSY] >= 1.0 && read.contains_key(server::WORKERS_IDLE),
        "{read:?}"
    );
}

#[test]
fn threads_of_tomcat_are_read_with_the_password() {
    let test = "threads_of_tomcat_are_read_with_the_password";
    let home = Path::new("/usr/share/tomcat10");
    if !home.join("bin/catalina.sh").exists() || program("java").is_none() {
        return skip(test, "no tomcat10 here");
    }
    let dir = TempDir::new().expect("a directory");
    let port = ports::free();
    fill_tomcat(dir.path(), port);
    let mut command = Command::new(home.join("bin/catalina.sh"));
    command
        .arg("run")
        .env("CATALINA_HOME", home)
        .env("CATALINA_BASE", dir.path())
        .env("JAVA_OPTS", "-Xmx64m");
    let _server = ServerProcess::start(
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()),
    );
    wait_until("Tomcat", || ports::has_listener(port));
    let mut watched = ProbeObserver::start(&[
        ("app", tomcat_probe(port, "me:p%40ss@")),
        ("stranger", tomcat_probe(port, "")),
    ]);
    watched.wait_until("a reading", |w| {
        !w.readings_of("tomcat:app").is_empty() && w.warnings().iter().any(|t| t.contains("401"))
    });
    let read = &watched.readings_of("tomcat:app")[0];
    assert_eq!(read[server::WORKERS_LIMIT], 50.0, "{read:?}");
    assert!(read[server::WORKERS_BUSY] >= 1.0, "{read:?}");
}

fn tomcat_probe(port: u16, user: &str) -> Probed {
    Probed::Tomcat { url: format!("http://{user}127.0.0.1:{port}/s/status") }
}

/// An nginx with php-fpm, whose status page has a separate listener.
struct Site {
    nginx: Nginx,
    fpm_port: u16,
    _fpm: ServerProcess,
    _dir: TempDir,
}

fn php(test: &str) -> Option<Site> {
    let Some(fpm) = ["php-fpm8.2", "php-fpm8.4", "php-fpm"].into_iter().find_map(program) else {
        skip(test, "no php-fpm here");
        return None;
    };
    let dir = TempDir::new().expect("a directory");
    let fpm_port = ports::free();
    let status = ports::free();
    fs::write(dir.path().join("sleep.php"), "<?php usleep(20000000);").expect("a page");
    fs::write(dir.path().join("conf"), fpm_config(dir.path(), fpm_port, status))
        .expect("a configuration");
    let mut command = Command::new(fpm);
    command.arg("-F").arg("-R").arg("-y").arg(dir.path().join("conf"));
    let server = ServerProcess::start(command.stdin(Stdio::null()).stderr(Stdio::null()));
    wait_until("php-fpm", || ports::has_listener(fpm_port) && ports::has_listener(status));
    let page = dir.path().join("sleep.php").display().to_string();
    let directives = fastcgi_location("/fpm-status", "/fpm-status", status)
        + &fastcgi_location("/sleep.php", &page, fpm_port);
    Some(Site { nginx: nginx(test, &directives)?, fpm_port, _fpm: server, _dir: dir })
}

fn fastcgi_location(path: &str, script: &str, to: u16) -> String {
    format!(
        "location = {path} {{ fastcgi_param REQUEST_METHOD GET; fastcgi_param QUERY_STRING $query_string; \
             fastcgi_param SCRIPT_NAME {path}; fastcgi_param SCRIPT_FILENAME {script}; fastcgi_pass 127.0.0.1:{to}; }}"
    )
}

fn fpm_config(dir: &Path, port: u16, status: u16) -> String {
    format!(
        "[global]\nerror_log = DIR/error\npid = DIR/pid\ndaemonize = no\n[www]\nuser = root\ngroup = root\n\
         listen = 127.0.0.1:{port}\nlisten.backlog = 64\npm = static\npm.max_children = {CHILDREN}\n\
         pm.status_path = /fpm-status\npm.status_listen = 127.0.0.1:{status}\n"
    )
    .replace("DIR", &dir.display().to_string())
}

fn apache_config(dir: &Path, port: u16) -> String {
    let modules = ["mpm_prefork", "authz_core", "status"]
        .map(|name: &str| {
            format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n")
        })
        .concat();
    format!(
        "{modules}Listen 127.0.0.1:{port}\nServerName localhost\nPidFile DIR/pid\nErrorLog DIR/error\nDefaultRuntimeDir DIR\n\
         Mutex file:DIR\nUser www-data\nGroup www-data\nServerLimit 8\nMaxRequestWorkers 8\n\
         <Location /status>\nSetHandler server-status\n</Location>\n"
    )
    .replace("DIR", &dir.display().to_string())
}

fn fill_tomcat(dir: &Path, port: u16) {
    for folder in ["logs", "temp", "work"] {
        fs::create_dir(dir.join(folder)).expect("a folder");
    }
    let server = format!(
        "<Server port=\"-1\"><Service name=\"Catalina\"><Connector port=\"{port}\" address=\"127.0.0.1\" maxThreads=\"50\"/>\
         <Engine name=\"Catalina\" defaultHost=\"localhost\"><Realm className=\"org.apache.catalina.realm.MemoryRealm\"/>\
         <Host name=\"localhost\" appBase=\"webapps\"/></Engine></Service></Server>"
    );
    write_file(dir, "conf/server.xml", &server);
    write_file(
        dir,
        "conf/web.xml",
        "<web-app xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"5.0\"/>",
    );
    let users = "<tomcat-users><role rolename=\"status\"/><user username=\"me\" password=\"p@ss\" roles=\"status\"/></tomcat-users>";
    write_file(dir, "conf/tomcat-users.xml", users);
    write_file(dir, "webapps/s/META-INF/context.xml", "<Context privileged=\"true\"/>");
    // The status page of the manager of Tomcat, without the manager.
    let app = "<web-app xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"5.0\"><servlet><servlet-name>S</servlet-name>\
        <servlet-class>org.apache.catalina.manager.StatusManagerServlet</servlet-class></servlet><servlet-mapping>\
        <servlet-name>S</servlet-name><url-pattern>/status/*</url-pattern></servlet-mapping><security-constraint>\
        <web-resource-collection><web-resource-name>S</web-resource-name><url-pattern>/*</url-pattern></web-resource-collection>\
        <auth-constraint><role-name>status</role-name></auth-constraint></security-constraint><login-config>\
        <auth-method>BASIC</auth-method></login-config><security-role><role-name>status</role-name></security-role></web-app>";
    write_file(dir, "webapps/s/WEB-INF/web.xml", app);
}

fn write_file(dir: &Path, name: &str, text: &str) {
    let file = dir.join(name);
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(file, text).expect("a file");
}

/// Sends a request without reading the reply.
fn ask(port: u16, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("nginx");
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).expect("a request");
    wait_a_moment();
    stream
}
