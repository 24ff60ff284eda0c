//! Compiles the C++ code against the installed libbullet if the feature `link` is enabled.

fn main() {
    println!("cargo:rerun-if-changed=bullet_world.cpp");
    #[cfg(feature = "link")]
    if let Err(reason) = link() {
        eprintln!("{reason}");
        std::process::exit(1);
    }
}

#[cfg(feature = "link")]
fn link() -> Result<(), String> {
    // The linker needs the libraries after the object that uses them, so they are printed below.
    let bullet_library = pkg_config::Config::new().cargo_metadata(false).probe("bullet").map_err(|error| {
        format!(
            "The feature `libbullet` benches Bullet itself, but pkg-config finds no package `bullet`. Install Bullet's \
             development files (Debian: libbullet-dev) and pkg-config, or leave the feature off: nothing else needs \
             it.\n\n{error}"
        )
    })?;
    let mut cpp = cc::Build::new();
    // Bullet's headers cause warnings.
    cpp.cpp(true).std("c++14").warnings(false).file("bullet_world.cpp").includes(&bullet_library.include_paths);
    cpp.try_compile("bullet_world").map_err(|error| {
        format!(
            "The feature `libbullet` needs a C++ compiler that builds bullet_world.cpp against libbullet.\n\n{error}"
        )
    })?;
    for folder in &bullet_library.link_paths {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    for library in &bullet_library.libs {
        println!("cargo:rustc-link-lib={library}");
    }
    Ok(())
}
